"""From a question to what came of it: plan, price, prove, pay or replay, answer."""
