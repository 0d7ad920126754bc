"""What people plan and understand privacy with; nothing is admitted by it."""
