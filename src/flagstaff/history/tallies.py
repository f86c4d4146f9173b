"""How often a flag was on and off."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """The number of times that a flag was on and off, in the history and in reports, and of each variant."""

    on: int = 0
    off: int = 0
    reported: int = 0
    variants: dict[str, int] = field(default_factory=dict)

    def add_variant(self, key: str, times: int) -> None:
        """Count some answers with a variant."""
        self.variants[key] = self.variants.get(key, 0) + times

    @property
    def only_variant(self) -> str | None:
        """The variant that everyone got, if it is one and the flag was never off."""
        if self.off or len(self.variants) != 1:
            return None
        ((key, times),) = self.variants.items()
        return key if times == self.on else None
