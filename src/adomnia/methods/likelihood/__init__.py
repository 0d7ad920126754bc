"""Laws with parameters: fitted by likelihood from noisy statistics, or described by what is believed of them."""
