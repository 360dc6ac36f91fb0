"""The server and its page: who may ask what, what is answered, and the processes beside it."""
