"""How the history represents and filters evaluations."""
