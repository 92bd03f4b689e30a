"""What has changed, on real repositories: the merge base, the working tree, odd names, and no silent nothing."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from evalrun.changes import Change, changed_since, file_at
from evalrun.errors import NoMergeBase
from tests.repositories import Repository


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """Two files on main, and a branch `feature` that is checked out."""
    repository = Repository(root=tmp_path / "repo").begin()
    repository.commit("a.txt", "b.txt")
    repository.branch("feature")
    return repository


def paths(repository: Repository, reference: str = "main", folder: str = "") -> list[str]:
    """The paths that changed."""
    return [c.path for c in changed_since(repository.root / folder, reference).found]


def test_b37_what_others_merged_is_no_change_of_ours(repo: Repository) -> None:
    """The merge base is compared with, also when main went on, and once main is merged in."""
    base = repo.git("rev-parse", "main")
    repo.commit("b.txt", text="mine")
    repo.git("switch", "-q", "main")
    repo.commit("only_main.txt")
    repo.git("switch", "-q", "feature")
    found = changed_since(repo.root, "main")
    assert ["b.txt"] == [c.path for c in found.found]
    assert (base,) == found.bases
    assert f"changed since main (merge base {base[:10]})" == found.line
    repo.git("merge", "-q", "--no-edit", "main")
    assert ["b.txt"] == paths(repo)


def test_b40_staged_unstaged_and_untracked_files_are_changes(repo: Repository) -> None:
    """Ignored files and what lies in the stash are not."""
    repo.commit(".gitignore", text="local*\n")
    repo.write("a.txt", "stashed")
    repo.git("stash", "-q")
    repo.write("staged.txt")
    repo.git("add", "staged.txt")
    repo.write("b.txt", "unstaged")
    repo.write("deep/new.txt")
    repo.write("local1.txt")
    assert [".gitignore", "b.txt", "deep/new.txt", "staged.txt"] == paths(repo)


def test_a_staged_change_counts_also_when_the_working_tree_was_changed_back(repo: Repository) -> None:
    """In doubt, run."""
    repo.write("a.txt", "staged")
    repo.git("add", "a.txt")
    repo.write("a.txt", "x\n")
    assert ["a.txt"] == paths(repo)


def test_a_rename_is_both_names_and_a_deletion_its_own(repo: Repository) -> None:
    """Committed or not."""
    repo.git("mv", "a.txt", "c.txt")
    repo.commit()
    (repo.root / "b.txt").unlink()
    assert ["a.txt", "b.txt", "c.txt"] == paths(repo)


def test_a_mode_is_a_change_and_a_touch_is_none(repo: Repository) -> None:
    """Git compares what files hold, not when they were written."""
    (repo.root / "a.txt").write_text("x\n", "utf-8")
    assert [] == paths(repo)
    (repo.root / "a.txt").chmod(0o755)
    assert ["a.txt"] == paths(repo)


def test_a_project_in_a_sub_folder_sees_paths_from_its_own_place(repo: Repository) -> None:
    """What changed above it has dots in front; the current folder does not matter."""
    repo.commit("projects/one/agent.py", "projects/two/agent.py", "shared.py")
    repo.write("projects/one/new.py")
    assert ["../../shared.py", "../two/agent.py", "agent.py", "new.py"] == paths(repo, folder="projects/one")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_compare_in_any_normal_form(repo: Repository, form: str) -> None:
    """A file written on one system has the name it has on another."""
    repo.commit(unicodedata.normalize(form, "scénarios/é.yaml"))
    assert [unicodedata.normalize("NFC", "scénarios/é.yaml")] == paths(repo)


def test_odd_names_stay_whole(repo: Repository) -> None:
    """Blanks, quotes, newlines, dashes and bytes that are no UTF-8."""
    odd = [
        " lead.txt",
        '"quoted".txt',
        "a\nb.txt",
        "-rf",
        "tab\there",
        b"raw\xff.txt".decode("utf-8", "surrogateescape"),
    ]
    repo.commit(*odd[:3])
    for name in odd[3:]:
        (repo.root / name).write_text("x", "utf-8")
    assert sorted(odd) == paths(repo)


def test_a_submodule_is_a_folder_that_changed(repo: Repository, tmp_path: Path) -> None:
    """Moved to another commit, or with files of its own that changed."""
    inner = Repository(root=tmp_path / "inner").begin()
    inner.commit("prompt.md")
    repo.git("submodule", "add", "-q", f"file://{inner.root}", "vendor/inner")
    repo.commit()
    repo.git("branch", "-f", "main")
    assert [] == paths(repo)
    (repo.root / "vendor/inner/prompt.md").write_text("changed", "utf-8")
    assert (Change(path="vendor/inner", folder=True),) == changed_since(repo.root, "main").found


def test_a_repository_inside_that_is_not_tracked_is_a_folder(repo: Repository) -> None:
    """Git tells no more of it."""
    Repository(root=repo.root / "nested").begin().commit("x.txt")
    assert (Change(path="nested", folder=True),) == changed_since(repo.root, "main").found


def test_b38_a_shallow_clone_says_so_with_its_cure(repo: Repository, tmp_path: Path) -> None:
    """Never nothing, and never the wrong list."""
    repo.commit("b.txt", text="mine")
    repo.git("switch", "-q", "main")
    repo.commit("only_main.txt")
    clone = repo.clone(tmp_path / "clone", "--depth", "1", "--branch", "feature")
    clone.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    with pytest.raises(NoMergeBase, match="too shallow") as raised:
        changed_since(clone.root, "origin/main")
    assert "fetch-depth: 0" in raised.value.remedy
    assert 2 == raised.value.exit_code


def test_b38_a_branch_that_was_not_fetched_says_so_with_its_cure(repo: Repository, tmp_path: Path) -> None:
    """The command to paste names it."""
    repo.commit("b.txt", text="mine")
    clone = repo.clone(tmp_path / "clone", "--single-branch", "--branch", "feature")
    with pytest.raises(NoMergeBase, match="git knows no commit 'main'") as raised:
        changed_since(clone.root, "main")
    assert "git fetch origin main" in raised.value.remedy


def test_b38_a_branch_of_origin_stands_in_and_that_is_said(repo: Repository, tmp_path: Path) -> None:
    """On a detached head without a local main."""
    repo.commit("b.txt", text="mine")
    clone = repo.clone(tmp_path / "clone", "--branch", "feature")
    clone.git("checkout", "-q", "--detach", "origin/feature")
    clone.git("branch", "-D", "feature")
    found = changed_since(clone.root, "main")
    assert ["b.txt"] == [c.path for c in found.found]
    assert ("main is not in this clone: compared with origin/main",) == found.notices


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "  ",
        "0" * 40,
        "no-such-branch",
        "--all",
        "-x",
        "--output=stolen",
        "main..feature",
        "^main",
        "a\0b",
        "a\nb",
        "main:",
    ],
)
def test_b38_a_reference_that_is_none_is_refused(repo: Repository, reference: str) -> None:
    """Also when it looks like an option, which is never taken for one."""
    with pytest.raises(NoMergeBase) as raised:
        changed_since(repo.root, reference)
    assert raised.value.remedy
    assert ["a.txt", "b.txt"] == sorted(p.name for p in repo.root.iterdir() if p.name != ".git")


def test_b38_a_commit_that_was_dropped_is_refused(repo: Repository, tmp_path: Path) -> None:
    """A forced push leaves a reference to nowhere."""
    dropped = repo.commit("b.txt", text="one")
    repo.git("commit", "-q", "--amend", "-m", "another")
    clone = repo.clone(tmp_path / "clone", "--branch", "feature")
    with pytest.raises(NoMergeBase, match=dropped):
        changed_since(clone.root, dropped)


def test_b38_histories_without_a_common_commit_are_refused(repo: Repository) -> None:
    """An orphan branch has nothing to compare with."""
    repo.git("switch", "-q", "--orphan", "lone")
    repo.commit("c.txt")
    with pytest.raises(NoMergeBase, match="no commit in common"):
        changed_since(repo.root, "main")


def test_b38_a_file_with_the_name_of_the_branch_is_no_ambiguity(repo: Repository) -> None:
    """The reference is resolved before anything is compared."""
    repo.commit("main")
    assert ["main"] == paths(repo)


def test_b38_outside_a_repository_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    """An error, and in an empty repository as well."""
    with pytest.raises(NoMergeBase, match="not in a working tree"):
        changed_since(tmp_path, "main")
    Repository(root=tmp_path).begin()
    with pytest.raises(NoMergeBase, match="no commit yet"):
        changed_since(tmp_path, "main")


@pytest.mark.parametrize("reference", ["HEAD", "HEAD~0", "@", "v1", "feature", "refs/heads/feature", ":/a change"])
def test_any_name_of_a_commit_is_a_reference(repo: Repository, reference: str) -> None:
    """Tags, annotated or not, and git's own ways of naming."""
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.write("b.txt", "mine")
    assert ["b.txt"] == paths(repo, reference)


def test_with_two_merge_bases_everything_since_either_is_a_change(repo: Repository) -> None:
    """Branches that merged each other: in doubt, run."""
    repo.commit("f.txt")
    repo.git("branch", "f1")
    repo.git("switch", "-q", "main")
    repo.commit("m.txt")
    repo.git("branch", "m1")
    repo.git("merge", "-q", "--no-edit", "f1")
    repo.git("switch", "-q", "feature")
    repo.git("merge", "-q", "--no-edit", "m1")
    found = changed_since(repo.root, "main")
    assert 2 == len(found.bases)
    assert ["f.txt", "m.txt"] == [c.path for c in found.found]


def test_settings_of_the_user_change_nothing(repo: Repository) -> None:
    """Renames, colours, relative paths, external tools, ignored submodules."""
    for name, value in {
        "diff.renames": "copies",
        "color.diff": "always",
        "diff.relative": "true",
        "diff.external": "false",
        "diff.ignoreSubmodules": "all",
        "status.showUntrackedFiles": "no",
        "diff.noprefix": "true",
        "core.quotePath": "true",
    }.items():
        repo.git("config", name, value)
    repo.git("mv", "a.txt", "é.txt")
    repo.write("sub/new.txt")
    assert ["../a.txt", "../é.txt", "new.txt"] == paths(repo, folder="sub")


def test_a_file_is_read_as_it_was(repo: Repository) -> None:
    """And one that was not there is nothing."""
    base = repo.commit("sub/a.toml", text="old")
    repo.write("sub/a.toml", "new")
    assert b"old" == file_at(repo.root / "sub", base, "a.toml")
    assert file_at(repo.root / "sub", base, "b.toml") is None


def test_in_a_hook_the_folder_counts(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git tells its hooks places relative to where they began."""
    repo.commit("sub/a.txt")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    monkeypatch.setenv("GIT_WORK_TREE", ".")
    assert ["a.txt"] == paths(repo, folder="sub")


def test_a_worktree_of_its_own_is_a_repository(repo: Repository, tmp_path: Path) -> None:
    """With its own branch and index."""
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"), "main")
    tree = Repository(root=tmp_path / "tree")
    tree.write("new.txt")
    repo.write("elsewhere.txt")
    assert ["new.txt"] == paths(tree)


def test_a_merge_ref_of_depth_two_compares_with_its_parent(repo: Repository, tmp_path: Path) -> None:
    """What a CI service checks out of a pull request: the merge commit and its two parents."""
    repo.commit("b.txt", text="mine")
    repo.git("switch", "-q", "main")
    repo.commit("only_main.txt")
    repo.branch("merged")
    repo.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    clone = repo.clone(tmp_path / "clone", "--depth", "2", "--branch", "merged")
    assert ["b.txt"] == paths(clone, "HEAD^1")
