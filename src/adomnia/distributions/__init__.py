"""What is known of sums of noises and of what is computed from them: margins, ratios, projections, simulations."""
