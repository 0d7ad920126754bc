"""How an answer is read: rows with their intervals, the figure, the bill, the receipt, files, texts to copy."""
