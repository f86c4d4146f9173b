"""The import contracts that import-linter lacks: on kinds of modules, libraries and values.

The name of a module contains its layer: `flags_routes` (routes and their schemas), `flags_service` (use cases),
`flags_store` (SQL), and `flags` (values). Other modules belong to the highest layer that they import, or to the use
cases if that is a store.
"""

from fnmatch import fnmatch

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

ROOT = "flagstaff."
VALUES, STORES, SERVICES, ROUTES, ASSEMBLY = range(5)
SUFFIXES = {"_routes": ROUTES, "_schemas": ROUTES, "_service": SERVICES, "_store": STORES}

Imports = dict[str, list[str]]


def read_imports(graph: ImportGraph) -> Imports:
    """Return what each module of the package imports of it, without the package's own name."""
    own = {module for module in graph.modules if module.startswith(ROOT)}
    return {
        module.removeprefix(ROOT): sorted(
            each.removeprefix(ROOT) for each in graph.find_modules_directly_imported_by(module) & own
        )
        for module in own
    }


class KindsContract(Contract):
    """No import leads to a higher layer: from values to stores, services, routes and what assembles them."""

    stores = fields.ListField(subfield=fields.StringField())
    routes = fields.ListField(subfield=fields.StringField())
    assembly = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        imports = read_imports(graph)
        layers = self._layers(imports)
        wrong = [
            f"{module} imports {other} of a layer above it"
            for module, others in sorted(imports.items())
            for other in others
            if layers[other] > layers[module]
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["wrong"]:
            output.print_error(line)

    def _layers(self, imports: Imports) -> dict[str, int]:
        folders = dict.fromkeys(self.stores, STORES)
        folders |= dict.fromkeys(self.routes, ROUTES)
        folders |= dict.fromkeys(self.assembly, ASSEMBLY)
        layers: dict[str, int] = {}

        def stated(module: str) -> int | None:
            for suffix, layer in SUFFIXES.items():
                if module.endswith(suffix):
                    return layer
            return next((layer for each, layer in folders.items() if f"{module}.".startswith(f"{each}.")), None)

        def layer_of(module: str, above: tuple[str, ...] = ()) -> int:
            if module not in layers:
                layer = stated(module)
                if layer is None:
                    below = [layer_of(each, (*above, module)) for each in imports[module] if each not in above]
                    layer = max(below, default=VALUES)
                    layer = SERVICES if layer == STORES else layer
                layers[module] = layer
            return layers[module]

        return {module: layer_of(module) for module in sorted(imports)}


class LibrariesContract(Contract):
    """Restricts libraries to some modules. The form of a place is `library, library: pattern pattern`."""

    places = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        wrong = []
        for place in self.places:
            names, _, patterns = place.partition(":")
            for library in names.split(", "):
                if library not in graph.modules:
                    wrong.append(f"Nothing imports {library}")
                    continue
                importers = (each.removeprefix(ROOT) for each in graph.find_modules_that_directly_import(library))
                wrong += [
                    f"{module} imports {library}"
                    for module in sorted(importers)
                    if not any(fnmatch(module, pattern) for pattern in patterns.split())
                ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["wrong"]:
            output.print_error(line)


class PureContract(Contract):
    """The values of resources, such as `flags` beside `flags_store`, and other pure modules do not reach libraries."""

    also = fields.ListField(subfield=fields.StringField())
    libraries = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        modules = {module.removeprefix(ROOT) for module in graph.modules}
        pure = {each for each in modules if any(f"{each}{suffix}" in modules for suffix in SUFFIXES)}
        pure |= {each for each in modules if any(f"{each}.".startswith(f"{place}.") for place in self.also)}
        wrong = [
            f"{module} reaches {library}"
            for module in sorted(pure)
            for library in sorted(graph.find_upstream_modules(ROOT + module) & {*self.libraries})
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["wrong"]:
            output.print_error(line)
