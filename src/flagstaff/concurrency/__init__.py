"""Tasks, short steps, and turns: how this process shares one event loop."""
