"""The page on which questions are asked: what one would cost and how wrong it may be, before it is paid."""
