"""The users of applications as people with rights: erases what is stored about one, and hands it out in one file."""
