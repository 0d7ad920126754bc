"""Short notes to words that not everybody knows: what pages show where a word stands with a dotted line."""

NOTES = {
    "epsilon": (
        "The price of an answer in privacy. The more is spent, the further the answers can move what somebody believes "
        "about what is hidden: one person, or one row. It is never paid back."
    ),
    "rho": "The price of an answer with Gaussian noise. Many small prices in rho add up to less than in epsilon.",
    "delta": "A small chance with which the bound of epsilon may be exceeded; usually less than one in a million.",
    "interval": "Where the exact answer lies, 19 times in 20. It is about the noise, unless it says population.",
    "noise": "A random number that is added to the exact answer, so that nobody can tell whether one person is in it.",
    "group": "Every declared group comes back, whether or not anybody is in it, so that who appears says nothing.",
    "nothing": "The interval is all that was possible before: too few people for this price.",
    "person": "Whose presence is hidden: everything that one person adds to the data, all their rows together.",
    "row": "Each row is hidden by itself, not each person: somebody with several rows is protected less.",
    "bounds": "Values beyond them are read as the bound. The owner declares them; they are never taken from the data.",
    "cap": "How many rows of one person count at most; more are left out, by chance.",
    "ledger": "The list of everything that was ever paid for. Each entry holds the hash of the one before.",
    "hash": "A fingerprint of an entry and of all before it: if any were changed, it would differ.",
    "replay": "The same question at the same price gets the same answer again, free.",
    "policy": "Who sets the price of a question: the analyst, or the owner by a rule.",
    "made up": "Rows drawn from what the catalog declares, not from the data: good for trying a question out.",
    "public": "A table about nobody: its rows are read exactly, and cost nothing.",
    "coalition": "Analysts who put their answers together. The dataset's budget bounds what they can learn.",
}
"""By the word: at most 40 words each."""
