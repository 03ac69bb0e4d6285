"""What ends the demo with one clear line instead of a traceback."""


class DemoError(Exception):
    """Something is wrong with what the user gave; the text is the whole message, on one line."""
