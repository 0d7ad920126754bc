"""What an analyst has paid for: listed, searched, and shared with other analysts by links."""
