"""Pictures of answers: Vega-Lite specifications of what an answer says, and files of them."""
