"""What only POSIX systems have: tests of it are skipped elsewhere, and the package guards it."""

import ast
import inspect
import re

_NAMES = {
    "os": "mkfifo mknod killpg getpgid setsid fork forkpty geteuid getuid getegid getgid chown "
    "lchown setuid nice getloadavg WNOHANG wait4 waitid openpty sched_getaffinity",
    "signal": "SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGXCPU SIGSTOP SIGCONT alarm pause",
    "socket": "AF_UNIX",
}
POSIX_NAMES = {f"{module}.{name}" for module, names in _NAMES.items() for name in names.split()}
POSIX_MODULES = {"fcntl", "pwd", "grp", "resource", "pty", "tty", "termios"}
_PLACES = r"/dev/(?:fd|full|null|zero|stdin|stdout|tty)\b"
_CALLS = "|".join(
    [
        *(re.escape(name) + r"\b" for name in sorted(POSIX_NAMES)),
        *(rf"\bimport {name}\b" for name in sorted(POSIX_MODULES)),
        _PLACES,
        r"\bpreexec_fn\b",
        r"\bsymlink(?:_to)?\(",  # on Windows, for administrators
    ]
)
_WORDS = [*(name.partition(".")[2] for name in POSIX_NAMES), *POSIX_MODULES]
_ANY_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
_GUARDS = re.compile(r"hasattr|getattr|os\.name|sys\.platform|AttributeError|ImportError")


def needs_posix(function, parameters=()):
    """Return whether a test uses, itself or in its parameters, what only POSIX systems have."""
    text = inspect.getsource(inspect.unwrap(function)) + repr(parameters)
    return re.search(_CALLS, text) is not None


def unguarded(source):
    """Return the lines of a module that use such a name where nothing asks for the system."""
    if not _ANY_WORD.search(source):
        return []
    tree, text = ast.parse(source), source.splitlines()
    lines = {}

    def visit(node, guarded):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # a function that asks, returns early or has branches, as far as can be known
            body = "\n".join(text[node.lineno - 1 : node.end_lineno])
            guarded = guarded or _GUARDS.search(body) is not None
        if isinstance(node, ast.If | ast.IfExp):
            guarded = guarded or _GUARDS.search(ast.unparse(node.test)) is not None
        if (
            isinstance(node, ast.Attribute)
            and node.attr in _WORDS
            and ast.unparse(node) in POSIX_NAMES
        ):
            lines[node.lineno] = guarded
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in POSIX_MODULES:
                    lines[node.lineno] = guarded
        for child in ast.iter_child_nodes(node):
            visit(child, guarded)

    visit(tree, False)
    return [line for line, guarded in lines.items() if not guarded]
