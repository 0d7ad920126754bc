"""A survey over HTTP: a page that randomises on the device of who answers, and one route that takes what it sends."""
