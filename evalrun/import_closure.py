"""The files that Python modules import, found without running them.

The one place that knows grimp, which reads whole packages; files that are no part of a package are
read here. An import of a submodule runs the `__init__` of every package around it, so those belong
to a closure too. What is loaded by name at run time cannot be seen: such files go into `watch`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path

import grimp
from grimp.exceptions import GrimpException

from evalrun.errors import UsageError


def closures(modules: Mapping[str, Sequence[str]], root: Path) -> Mapping[str, tuple[frozenset[Path], frozenset[Path]]]:
    """By group of modules: all files of the project they import, themselves included, and their own files.

    Raises UsageError for a module that is not there or not in the project, and for code that cannot be read.
    """
    importlib.invalidate_caches()
    code = _Code(root=root.resolve())
    for group, names in modules.items():
        for name in names:
            code.demand(group, name)
    code.read()
    found = {}
    for group, names in modules.items():
        for name in names:
            code.check(group, name)
        files = frozenset(f for m in code.reached(names) if (f := code.file(m)))
        found[group] = (files, frozenset(f for m in names if (f := code.file(m))))
    return found


@dataclass(slots=True, kw_only=True)
class _Code:
    """The project's own code: top-level names and where they are, and which module imports which."""

    root: Path
    places: dict[str, Path | None] = field(default_factory=dict)
    """By top-level name: the file of a module, the folder of a package, None for what is not the project's."""
    graph: grimp.ImportGraph | None = None
    alone: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What a module imports that grimp does not read: one outside any package, or in a folder without `__init__`."""
    loose: dict[str, list[str]] = field(default_factory=dict)
    """By package: its modules in folders without `__init__`. Imports of those are not told from imports of the package."""

    def demand(self, group: str, module: str) -> None:
        """Take in the package of a module that the settings name."""
        top = module.partition(".")[0]
        spec = _spec(top)
        if spec is None:
            raise UsageError(
                f"there is no module {top!r}, which `modules` of stage {group} names",
                remedy="correct the name; it is looked up beside the settings and among installed packages",
            )
        if self._place(top) is None:
            raise UsageError(
                f"the module {top!r} of stage {group} is outside the project",
                remedy="install the project in editable mode, so that its own files are read",
            )

    def read(self) -> None:
        """Read the imports, and those of the project's further packages that are imported."""
        done: set[str] = set()
        while todo := {t for t, place in self.places.items() if place} - done:
            done |= todo
            packages = sorted(t for t in done if (p := self.places[t]) and p.is_dir())
            if packages and any(t in packages for t in todo):
                self.graph = self._build(packages)
                self._take_loose(packages, self.graph.modules)
                outside = {m for m in self.graph.modules if m.partition(".")[0] not in self.places}
            else:
                outside = set()
            for top in todo:
                if (place := self.places[top]) and place.is_file():
                    self.alone[top] = tuple(_imports(place, ""))
            outside |= {name for names in self.alone.values() for name in names}
            for name in outside:
                self._place(name.partition(".")[0])

    def _build(self, packages: Sequence[str]) -> grimp.ImportGraph:
        try:
            return grimp.build_graph(
                packages[0],
                *packages[1:],
                include_external_packages=True,
                exclude_type_checking_imports=True,
                # its cache goes by modification times: a file written twice in one tick would be missed
                cache_dir=None,
            )
        except (GrimpException, UnicodeDecodeError) as e:
            raise UsageError(
                f"the imports of {', '.join(packages)} cannot be read: {e}", remedy="correct that file, or use `watch`"
            ) from e

    def _take_loose(self, packages: Sequence[str], known: set[str]) -> None:
        """Modules that lie in a package and are not in its graph: in doubt they belong to all that import it."""
        for top in packages:
            folder = self.places[top]
            assert folder is not None
            self.loose[top] = []
            for file in sorted(folder.rglob("*.py")):
                parts = (top, *file.relative_to(folder).with_suffix("").parts)
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                if name not in known and name not in self.alone and all(p.isidentifier() for p in parts):
                    self.alone[name] = tuple(_imports(file, name.rpartition(".")[0]))
                if name in self.alone:
                    self.loose[top].append(name)

    def _place(self, top: str) -> Path | None:
        if top not in self.places:
            spec = _spec(top)
            place: Path | None = None
            if spec is not None and spec.submodule_search_locations:
                place = Path(next(iter(spec.submodule_search_locations)))
            elif spec is not None and spec.has_location and spec.origin:
                place = Path(spec.origin)
            own = place is not None and place.resolve().is_relative_to(self.root)
            installed = place is not None and {"site-packages", "dist-packages"} & set(place.parts)
            self.places[top] = place if own and not installed else None
        return self.places[top]

    def check(self, group: str, module: str) -> None:
        """Refuse a module that is not in its package."""
        if module not in self.alone and (self.graph is None or module not in self.graph.modules):
            raise UsageError(
                f"stage {group}: there is no module {module!r}", remedy="correct `modules` in the settings"
            )

    def reached(self, modules: Iterable[str]) -> set[str]:
        """Everything some modules import, however far, with the packages around each."""
        reached: set[str] = set()
        todo = list(modules)
        while todo:
            module = todo.pop()
            if module in reached or self.places.get(module.partition(".")[0]) is None:
                continue
            reached.add(module)
            todo += self._next(module)
            todo += self.loose.get(module, ())
            parent = module.rpartition(".")[0]
            todo += [parent] if parent else []
        return reached

    def _next(self, module: str) -> Iterable[str]:
        if module in self.alone:
            return self.alone[module]
        if self.graph is not None and module in self.graph.modules:
            return self.graph.find_modules_directly_imported_by(module)
        return ()

    def file(self, module: str) -> Path | None:
        """Where a module is written; None for a folder without a file of its own, and for a name in a module."""
        top, *rest = module.split(".")
        place = self.places.get(top)
        if place is None or place.is_file():
            return None if rest else place
        inside = place.joinpath(*rest)
        files = (inside / "__init__.py", inside.with_name(f"{inside.name}.py"))
        return next((f for f in files if f.is_file()), None)


def _spec(top: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None


def _imports(file: Path, package: str) -> Iterator[str]:
    """The names that a file of a package ("" for none) imports; of `from a import b` both. Raises UsageError."""
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError) as e:
        raise UsageError(
            f"the imports of {file} cannot be read: {e}", remedy="correct that file, or use `watch`"
        ) from e
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            name = ".".join([*around, *([node.module] if node.module else [])])
            if name:
                yield name
                yield from (f"{name}.{a.name}" for a in node.names)
