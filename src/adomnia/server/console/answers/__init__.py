"""How an answer is read: rows with their intervals, the figure, the bill, the receipt, files and texts to take along."""
