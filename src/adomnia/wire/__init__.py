"""What travels between a session and a server: models of every request and reply, and plain JSON both ways.

The models describe replies for the OpenAPI document. Replies themselves are written and read by functions, because an
answer may have a million cells.
"""
