"""Move and merge the modules of a checkout as tree.txt says: regroup.py CHECKOUT"""
import ast, builtins, collections, pathlib, re, subprocess, sys, textwrap
top = pathlib.Path(sys.argv[1]); root = top/'alignkit'
DRY = '-n' in sys.argv
new = {}; groups = collections.OrderedDict()
for l in open('.regroup/tree.txt'):
    l = l.split('#')[0].strip()
    if l:
        n, o = l.split('='); n = n.strip()
        for x in o.split(): new[x] = n; groups.setdefault(n, []).append(x)
renames = {}   # (oldmod, name) -> newname
for l in open('.regroup/renames.txt'):
    l = l.split('#')[0].split()
    if l: renames[l[0], l[1]] = l[2]
ALIAS = {'profiles.__init__': 'scoring.__init__'}  # packages whose exports go elsewhere
docs = {}
for l in open('.regroup/docs.txt'):
    if '=' in l:
        k, v = l.split('=', 1); docs[k.strip()] = v.strip()

class Mod: pass
def path_of(m): return root.joinpath(*m.split('.')).with_suffix('.py')
mods = {}
for p in sorted(root.rglob('*.py')):
    m = Mod(); m.name = '.'.join(p.relative_to(root).with_suffix('').parts); m.path = p
    m.src = p.read_text(); m.tree = ast.parse(m.src); mods[m.name] = m
packages = {n[:-len('.__init__')] for n in mods if n.endswith('.__init__')}
for n in list(new):
    if n not in mods:
        print('gone:', n); groups[new[n]].remove(n); del new[n]
groups = {k: v for k, v in groups.items() if v}
for n in mods:
    if n not in new and n != '__init__' and n not in ALIAS and not (n.endswith('__init__') and len(mods[n].src.splitlines()) <= 7):
        print('UNMAPPED, kept:', n); new[n] = n; groups[n] = [n]
new.update(ALIAS); new['__init__'] = '__init__'; groups['__init__'] = ['__init__']

def key_of(dotted):
    """old module named so, '' = top package"""
    if dotted == '': return '__init__'
    if dotted in mods: return dotted
    if dotted in packages: return dotted + '.__init__'
def newold(old): return old[:-9] if old.endswith('.__init__') else old
def newpath(old):  # dotted import path below alignkit of an old module
    n = new.get(old)
    if n is None:  # dropped one-line package
        return None
    return n[:-9] if n.endswith('.__init__') else ('' if n == '__init__' else n)
def full(p): return 'alignkit' + ('.' + p if p else '')
DEFINED = {}
EXPORTS = {}
def exports_of(k):
    if k not in EXPORTS:
        pyi = mods[k].path.with_suffix('.pyi')
        EXPORTS[k] = {a.asname or a.name for st in ast.parse(pyi.read_text()).body for a in st.names} if pyi.exists() and k.endswith('__init__') else set()
    return EXPORTS[k]
def resolve(module, name, follow=False):
    """what `from module import name` names: ('mod', old) or ('sym', old, name)"""
    base = module[len('alignkit'):].lstrip('.')
    k = key_of((base + '.' if base else '') + name)
    pk = key_of(base)
    if k and not (pk and name in exports_of(pk)): return ('mod', k)
    k = key_of(base)
    assert k, (module, name)
    if follow and name not in DEFINED[k]:
        pyi = mods[k].path.with_suffix('.pyi')
        if pyi.exists():
            for st in ast.parse(pyi.read_text()).body:
                for a in st.names:
                    if a.name == name:
                        pk = full(k[:-9].rstrip('.')) if k != '__init__' else 'alignkit'
                        return resolve(f'{pk}.{st.module}' if st.level else st.module, name, True)
        for st, _, _ in top_imports(mods[k].tree):
            if ours(st):
                for a in st.names:
                    if (a.asname or a.name) == name: return resolve(st.module, a.name, True)
    return ('sym', k, name)

class Source:
    """text with edits at ast positions"""
    def __init__(self, src):
        self.src = src; self.lines = src.splitlines(keepends=True)
        self.starts = [0]
        for l in self.lines: self.starts.append(self.starts[-1] + len(l))
        self.edits = []
    def off(self, line, col):
        text = self.lines[line-1]
        return self.starts[line-1] + len(text.encode()[:col].decode())
    def span(self, node): return self.off(node.lineno, node.col_offset), self.off(node.end_lineno, node.end_col_offset)
    def edit(self, a, b, s): self.edits.append((a, b, s))
    def apply(self):
        out = self.src; last = None
        for a, b, s in sorted(set(self.edits), reverse=True):
            assert last is None or b <= last, ('overlap', self.src[a:b], s)
            out = out[:a] + s + out[b:]; last = a
        return out

def bound_in(node):
    """names bound in the scope of a function, lambda or comprehension"""
    names, glob = set(), set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        a = node.args
        for x in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg]:
            if x: names.add(x.arg)
        body = node.body if isinstance(node.body, list) else [node.body]
    elif isinstance(node, ast.ClassDef): body = node.body
    else:
        body = [g.target for g in node.generators]
    def visit(n):
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)): names.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(n.name)
            for d in n.decorator_list: visit(d)
            return
        elif isinstance(n, ast.Lambda): return
        elif isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for x in ast.walk(n):
                if isinstance(x, ast.NamedExpr): names.add(x.target.id)
            return
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            if ours(n): return
            for al in n.names: names.add((al.asname or al.name).split('.')[0])
        elif isinstance(n, ast.ExceptHandler) and n.name: names.add(n.name)
        elif isinstance(n, ast.Global): glob.update(n.names)
        elif isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name: names.add(n.name)
        for c in ast.iter_child_nodes(n): visit(c)
    for b in body: visit(b)
    return names - glob

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
def walk_scoped(tree):
    """yield (node, locals): locals are names that do not mean the module's"""
    def visit(n, funcs, cls):
        yield n, funcs | cls
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for d in n.decorator_list: yield from visit(d, funcs, cls)
            for d in n.args.defaults + [k for k in n.args.kw_defaults if k]: yield from visit(d, funcs, cls)
            a = n.args
            for x in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg]:
                if x and x.annotation: yield from visit(x.annotation, funcs, cls)
            if n.returns: yield from visit(n.returns, funcs, cls)
            inner = funcs | bound_in(n)
            for b in n.body: yield from visit(b, inner, frozenset())
        elif isinstance(n, ast.Lambda):
            for d in n.args.defaults + [k for k in n.args.kw_defaults if k]: yield from visit(d, funcs, cls)
            yield from visit(n.body, funcs | bound_in(n), frozenset())
        elif isinstance(n, ast.ClassDef):
            for d in n.decorator_list + n.bases + [k.value for k in n.keywords]: yield from visit(d, funcs, cls)
            inner = frozenset(bound_in(n))
            for b in n.body: yield from visit(b, funcs, inner)
        elif isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            b = bound_in(n)
            first = n.generators[0].iter
            yield from visit(first, funcs, cls)
            for c in ast.iter_child_nodes(n):
                if isinstance(c, ast.comprehension):
                    for cc in [c.target, *([] if c.iter is first else [c.iter]), *c.ifs]: yield from visit(cc, funcs | b, frozenset())
                else: yield from visit(c, funcs | b, frozenset())
        elif isinstance(n, ast.AnnAssign):  # the annotation of a field named like its type means the module's
            yield from visit(n.annotation, funcs, frozenset())
            yield from visit(n.target, funcs, cls)
            if n.value: yield from visit(n.value, funcs, cls)
        else:
            for c in ast.iter_child_nodes(n): yield from visit(c, funcs, cls)
    for s in tree.body: yield from visit(s, frozenset(), frozenset())

def is_tc(n): return isinstance(n, ast.If) and isinstance(n.test, ast.Name) and n.test.id == 'TYPE_CHECKING'
def is_import(n): return isinstance(n, (ast.Import, ast.ImportFrom))
def ours(n): return isinstance(n, ast.ImportFrom) and n.level == 0 and n.module and n.module.split('.')[0] == 'alignkit'

def top_imports(tree):
    """(statement, container, typechecking) of imports at the top that are taken out"""
    for s in tree.body:
        if is_import(s): yield s, s, False
        elif is_tc(s) and all(map(is_import, s.body)) and not s.orelse:
            for i in s.body: yield i, s, True

def defined(tree):
    """names that the statements at the top define -> statement"""
    out = collections.OrderedDict()
    for s in tree.body:
        if is_import(s) or (is_tc(s) and all(map(is_import, s.body))): continue
        holder = ast.Module([s], [])
        class F: pass
        f = ast.Lambda(ast.arguments([], [], None, [], [], None, []), None)
        names = set()
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): names = {s.name}
        else:
            g = ast.FunctionDef('x', ast.arguments([], [], None, [], [], None, []), [s], [], None)
            names = bound_in(g)
        for n in names: out.setdefault(n, []).append(s)
    return out

DEFINED.update({n: set(defined(m.tree)) for n, m in mods.items()})
# ---- plan of each group: order, definitions, collisions
def edges_top(name):
    """old modules that a module needs when it is loaded"""
    for s, _, tc in top_imports(mods[name].tree):
        if not tc and ours(s):
            for a in s.names:
                r = resolve(s.module, a.name)
                yield r[1]
from graphlib import TopologicalSorter
order = {}
for g, olds in groups.items():
    ts = TopologicalSorter()
    for o in olds: ts.add(o, *[e for e in edges_top(o) if e in olds and e != o])
    static = list(ts.static_order())
    order[g] = static
locals_of = {}   # old module -> {old local name: new local name} for names defined there (collisions, renames)
dropped = collections.defaultdict(set)  # old module -> statements (ids) that stand in the group already
for g, olds in order.items():
    owner = {}
    for o in olds:
        locals_of[o] = {}
        for name, stmts in defined(mods[o].tree).items():
            want = renames.get((o, name), name)
            if want in owner and len(olds) > 1:
                other, ostm, oname = owner[want]
                same = [ast.unparse(x) for x in stmts] == [ast.unparse(x) for x in ostm] and oname == name
                if same:
                    dropped[o].update(map(id, stmts)); locals_of[o][name] = want; continue
                last = o.split('.')[-1] if o.split('.')[-1] != '__init__' else o.split('.')[-2]
                if name.startswith('_') and not name.startswith('__'):
                    want = f"{name}_{last}" if not name.isupper() else f"{name}_{last.upper()}"
                    if name.lstrip('_')[:1].isupper() and not name.isupper():
                        want = '_' + ''.join(w.title() for w in last.split('_')) + name.lstrip('_')
                else:
                    print('PUBLIC COLLISION', g, name, 'in', o, 'and', other)
                    want = f"{name}_{last}" if not name.isupper() else f"{name}_{last.upper()}"
                    if name[:1].isupper() and not name.isupper():
                        want = ''.join(w.title() for w in last.split('_')) + name
                if want in owner: print('STILL COLLIDES', g, want)
            owner[want] = (o, stmts, name)
            if want != name: renames[o, name] = want
            locals_of[o][name] = want
    for n in owner:
        if hasattr(builtins, n) and len(olds) > 1 and n not in ('__doc__',): print('BUILTIN', g, n, owner[n][0])
def newsym(old, name): return renames.get((old, name), name)

STUBBED = {'': None, 'stats': '', 'corpora': '', 'tables': ''}
olds = {}
for p in root.rglob('__init__.pyi'):
    old = '.'.join(p.parent.relative_to(root).parts)
    if old != 'profiles': STUBBED[newpath(old + '.__init__' if old else '__init__')] = p
def owner(sub):
    while sub not in STUBBED: sub = sub.rpartition('.')[0]
    return sub
moved, stubs = {}, collections.defaultdict(dict)
for p in root.rglob('__init__.pyi'):
    old = '.'.join(p.parent.relative_to(root).parts); k = old + '.__init__' if old else '__init__'
    here = newpath(k)
    for st in ast.parse(p.read_text()).body:
        assert isinstance(st, ast.ImportFrom)
        for a in st.names:
            base = full((old + '.' if old else '') + (st.module or '')) if st.level else st.module
            r = resolve(base, a.name, True)
            if r[0] == 'mod': print('MODULE IN STUB', p, a.name); continue
            sub = newpath(r[1]); name = newsym(r[1], r[2])
            o = '' if here == '' else owner(sub)
            if o == '' and here != '': print('NO STUB FOR', sub, name); continue
            stubs[o].setdefault(sub, set()).add(name)
            if o != here: moved[k, a.name] = (o, name)
def locate(r):
    if (r[1], r[2]) in moved: return moved[r[1], r[2]]
    return newpath(r[1]), newsym(r[1], r[2])

def rewrite(tree, s, own_group=None, own=None):
    """edits of one source; returns imports taken out at the top: list of (module, name, asname, tc)"""
    taken, local, modalias, inline = [], {}, {}, {}
    allnames = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    allnames |= set(defined(tree)) | set(locals_of.get(own, {}).values())
    for st in ast.walk(tree):
        if is_import(st):
            for a in st.names:
                if not ours(st): allnames.add(a.asname or a.name)
    if own: local.update({k: v for k, v in locals_of[own].items() if k != v})
    others = set(defined(tree)) | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} if own is None else set()
    def one(st, a):
        """how an imported name is imported now: (module, name, asname) or None if it is in this very file"""
        r = resolve(st.module, a.name, own is not None and not own.endswith('__init__')); here = a.asname or a.name
        kept = here in others
        if r[0] == 'mod':
            p = newpath(r[1])
            modalias[here] = r[1]
            if p is None: print('DROPPED PACKAGE imported', st.module, a.name); p = r[1]
            if own_group and new.get(r[1]) == own_group:
                inline[here] = r[1]; return None
            parent, _, last = p.rpartition('.')
            if a.asname is None and last != here:
                if last in allnames or kept: return full(parent), last, here
                local[here] = last; return full(parent), last, None
            return full(parent), last, (here if here != last else None)
        _, old, name = r
        p, n = locate(r)
        if own_group and new.get(old) == own_group:
            if here != n: local[here] = n
            return None
        if p is None: print('DROPPED', old); p = old
        if a.asname is None and n != name:
            if n in allnames or kept: return full(p), n, here
            local[here] = n; return full(p), n, None
        return full(p), n, (a.asname if a.asname != n else None)
    tops = {id(st): (cont, tc) for st, cont, tc in top_imports(tree)}
    removed = set()
    for st in ast.walk(tree):
        if not is_import(st): continue
        if own_group and id(st) in tops:
            cont, tc = tops[id(st)]
            if ours(st):
                for a in st.names:
                    r = one(st, a)
                    if r: taken.append((*r, tc))
            elif isinstance(st, ast.ImportFrom):
                taken += [('.' * st.level + (st.module or ''), a.name, a.asname, tc) for a in st.names]
            else: taken += [(None, a.name, a.asname, tc) for a in st.names]
            if id(cont) not in removed:
                removed.add(id(cont)); a, b = s.span(cont)
                s.edit(a, b, '')
        elif ours(st):
            got = [r for a in st.names if (r := one(st, a))]
            a, b = s.span(st); pad = ' ' * st.col_offset
            by = collections.OrderedDict()
            for m, n, asn in got: by.setdefault(m, []).append(n + (f' as {asn}' if asn else ''))
            text = ('\n' + pad).join(f"from {m} import {', '.join(ns)}" for m, ns in by.items())
            s.edit(a, b, text or 'pass  # regroup')
    doomed = [x for x in tree.body if own and id(x) in dropped[own]]
    spans = [s.span(x) for x in doomed]
    def gone(n): 
        a, _ = s.span(n)
        return any(x <= a < y for x, y in spans)
    for x in doomed:
        a, b = s.span(x)
        if getattr(x, 'decorator_list', None): a = s.span(x.decorator_list[0])[0] - 1
        s.edit(a, b, '')
    for n, hidden in walk_scoped(tree):
        if hasattr(n, 'lineno') and gone(n): continue
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in modalias and n.value.id not in hidden:
            old = modalias[n.value.id]; nn = newsym(old, n.attr); a, b = s.span(n)
            if n.value.id in inline:
                if nn in hidden: print('SHADOWED', own, n.value.id, nn, n.lineno)
                s.edit(a, b, nn)
            elif nn != n.attr: s.edit(b - len(n.attr), b, nn)
        elif isinstance(n, ast.Name) and n.id in local and n.id not in hidden:
            if n.id in inline: continue
            if local[n.id] in hidden: print('SHADOWED', own, n.id, local[n.id], n.lineno)
            a, b = s.span(n)
            if s.src[a:b] == n.id: s.edit(a, b, local[n.id])
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n in tree.body and n.name in local:
            a = s.span(n)[0]; text = s.src[a:]; m = re.match(r'(async\s+)?(def|class)\s+', text)
            s.edit(a + m.end(), a + m.end() + len(n.name), local[n.name])
        elif isinstance(n, ast.Global):
            for x in n.names:
                if x in local: print('GLOBAL of renamed', own, x)
        elif isinstance(n, ast.Call) and len(n.args) >= 2 and isinstance(n.args[0], ast.Name) and n.args[0].id in modalias and isinstance(n.args[1], ast.Constant) and isinstance(n.args[1].value, str):
            old = modalias[n.args[0].id]; v = n.args[1].value
            try: r = resolve(full(newold(old)), v, True)
            except AssertionError: r = ('sym', old, v)
            w = newsym(r[1], r[2]) if r[0] == 'sym' else v
            if w != v:
                a, b = s.span(n.args[1]); s.edit(a, b, '"' + w + '"')
    classes = {k: v for k, v in local.items() if k[:1].isupper()}
    if classes:
        word = re.compile(r'\b(' + '|'.join(classes) + r')\b')
        for n, hidden in walk_scoped(tree):   # types in strings
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and word.search(n.value) and '\n' not in n.value and ('[' in n.value or '|' in n.value or n.value in classes):
                try: ast.parse(n.value, mode='eval')
                except SyntaxError: continue
                a, b = s.span(n); t = word.sub(lambda m: classes[m[0]], s.src[a:b])
                print('STRING', own, s.src[a:b], t); s.edit(a, b, t)
    words = {k: v for k, v in local.items() if len(k) > 2}
    for n in ast.walk(tree):   # names of modules in strings, and names in examples
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and ('alignkit.' in n.value or '>>> ' in n.value or 'from alignkit' in n.value):
            a, b = s.span(n); raw = s.src[a:b]
            t = mapped(raw)
            if '>>> ' in raw and words:
                pat = re.compile(r'(?<![\w.])(' + '|'.join(map(re.escape, words)) + r')\b')
                out = []
                example = False
                for l in t.split('\n'):
                    st_ = l.lstrip()
                    example = st_.startswith(('>>> ', '... ')) or (example and bool(st_) and not st_.startswith('"""'))
                    if example and 'import' not in l: l = pat.sub(lambda m: words[m[0]] if m[0][:1].isupper() or m[0][:1] == '_' or st_.startswith(('>>>', '...')) else m[0], l)
                    out.append(l)
                t = '\n'.join(out)
            if t != raw and not any(x < b and a < y for x, y, _ in s.edits): s.edit(a, b, t)
    return taken

DOT = re.compile(r'alignkit((?:\.[A-Za-z_][A-Za-z_0-9]*)+)')
def dotted(text):
    def sub(m):
        parts = m[1][1:].split('.')
        for k in range(len(parts), 0, -1):
            key = key_of('.'.join(parts[:k]))
            if key and key != '__init__':
                p = newpath(key)
                if p is None: return m[0]
                rest = parts[k:]
                if rest: rest[0] = newsym(key, rest[0])
                return '.'.join([full(p), *rest])
        return m[0]
    text = DOT.sub(sub, text)
    def line(m):   # doctests: from alignkit.x import a, b
        names = [x.strip() for x in m[3].split(',')]
        by = collections.OrderedDict()
        try:
            for x in names:
                base, _, asn = x.partition(' as ')
                r = resolve(m[2], base.strip())
                if r[0] == 'mod':
                    p = newpath(r[1]); par, _, last = p.rpartition('.')
                    by.setdefault(full(par), []).append(last + (f' as {asn or base}' if (asn or last != base) else ''))
                else:
                    by.setdefault(full(newpath(r[1])), []).append(newsym(r[1], base.strip()) + (f' as {asn}' if asn else ''))
        except (AssertionError, AttributeError): return m[0]
        return ('\n' + m[1]).join(f"from {k} import {', '.join(v)}" for k, v in by.items())
    return text
IMPORT = re.compile(r'from (alignkit[\w.]*) import ((?:\w+(?: as \w+)?)(?:, \w+(?: as \w+)?)*)')
def mapped(text):
    """modules and imported names in prose, examples and strings of code"""
    def sub(m):
        by = collections.OrderedDict()
        try:
            for x in m[2].split(', '):
                base, _, asn = x.partition(' as ')
                r = resolve(m[1], base)
                if r[0] == 'mod':
                    p = newpath(r[1]); par, _, last = p.rpartition('.'); name = asn or base
                    by.setdefault(full(par), []).append(last + (f' as {name}' if last != name else ''))
                else:
                    p, n = locate(r)
                    by.setdefault(full(p), []).append(n + (f' as {asn}' if asn else ''))
        except (AssertionError, AttributeError, TypeError):
            print('import in text left:', m[0]); return m[0]
        return '; '.join(f"from {k} import {', '.join(v)}" for k, v in by.items()).replace('alignkit', 'ALIGN\0')
    return dotted(IMPORT.sub(sub, text)).replace('ALIGN\0', 'alignkit')

def same_definition(g, name, a, b):
    """whether what is imported is defined in the group in the same words"""
    there = [x for o in order.get(a[9:], []) for n, x in defined(mods[o].tree).items() if newsym(o, n) == b]
    here = [x for o in order[g] for n, x in defined(mods[o].tree).items() if newsym(o, n) == name]
    return bool(there and here) and [ast.unparse(x) for x in there[0]] == [ast.unparse(x) for x in here[0]]

outputs = {}
for g, olds in order.items():
    pieces, taken = [], []
    for o in olds:
        m = mods[o]; src = m.src
        s = Source(src)
        if m.tree.body and ast.get_docstring(m.tree) is not None:
            a, b = s.span(m.tree.body[0]); s.edit(a, b, '')
        taken += rewrite(m.tree, s, g, o)
        pieces.append(doctests_after := s.apply())
    # imports of the merged file
    defs = set().union(*[set(locals_of[o].values()) for o in olds])
    bound = {}
    lines, tcs, future = [], [], False
    runtime = {(a, b, c) for a, b, c, tc in taken if not tc}
    for a, b, c, tc in dict.fromkeys(taken):
        if a == '__future__': continue
        if tc and (a, b, c) in runtime: continue
        name = c or (b if a is not None else b.split('.')[0])
        if name in defs and a and a.startswith('alignkit') and same_definition(g, name, a, b): continue
        origin = (a, b)
        if name in defs: print('IMPORT SHADOWS DEFINITION', g, name, origin)
        if bound.setdefault(name, origin) != origin: print('IMPORT CONFLICT', g, name, origin, bound[name])
        (tcs if tc else lines).append((f'from {a} import {b}' if a is not None else f'import {b}') + (f' as {c}' if c else ''))
    biggest = max(olds, key=lambda o: (o.split('.')[-1] == g.split('.')[-1], len(mods[o].src)))
    first = mods[biggest].tree.body[0] if mods[biggest].tree.body else None
    doc = f'"""{docs[g]}"""' if g in docs else ast.get_source_segment(mods[biggest].src, first) if first is not None and ast.get_docstring(mods[biggest].tree) else '"""TODO"""'
    text = doc + '\n\nfrom __future__ import annotations\n\n' + '\n'.join(lines) + '\n'
    if tcs: text += '\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    ' + '\n    '.join(tcs) + '\n'
    text += '\n\n' + '\n\n'.join(p.strip('\n') for p in pieces if p.strip()) + '\n'
    outputs[g] = text
# doctest imports inside docstrings: done on the whole text of pieces would touch new imports, so only where '>>>' stands
PROMPT = re.compile(r'(?m)^([ \t]*(?:>>> |\.\.\. ))from (alignkit[\w.]*) import ([\w, ]+)$')
if DRY: print(len(outputs), 'modules'); sys.exit()

# files outside the package (before anything moves)
ext = {}
for p in [*top.glob('tests/**/*.py'), *top.glob('benchmarks/**/*.py'), *top.glob('docs/**/*.py')]:
    src = p.read_text(); tree = ast.parse(src); s = Source(src); rewrite(tree, s); ext[p] = s.apply()
for p in [*top.glob('*.md'), *top.glob('docs/**/*.md'), *top.glob('guidelines/**/*.md'), *top.glob('samples/**/*.md')]:
    if p.name != 'CHANGELOG.md': ext[p] = mapped(p.read_text())
for p in (top/'setup.cfg', top/'pyproject.toml'): ext[p] = dotted(p.read_text())
# doctests: their text was changed by dotted() already (string constants), so map names that it could not
def fix(text): return text
for p, t in ext.items(): p.write_text(t)
git = lambda *a: subprocess.run(['git', '-C', str(top), *a], check=True, capture_output=True)
moved = set()
for g, olds in order.items():
    biggest = max(olds, key=lambda o: len(mods[o].src)); dest = path_of(g)
    dest.parent.mkdir(parents=True, exist_ok=True)
    mods[biggest].dest = dest
tmp = {}
for n, m in mods.items():
    if n in new or n != '__init__': pass
for n, m in mods.items():
    if (n not in new or n in ALIAS) and n.endswith('__init__'): git('rm', '-q', '-f', str(m.path)); continue
    if n in new: git('rm', '-q', '-f', '--cached', str(m.path)); m.path.unlink()
for g, text in outputs.items():
    d = path_of(g); d.parent.mkdir(parents=True, exist_ok=True); d.write_text(text)
for p in root.rglob('__init__.pyi'): p.unlink()
for o, by in stubs.items():
    d = root.joinpath(*[x for x in o.split('.') if x]); d.mkdir(exist_ok=True)
    cut = len(o)
    (d/'__init__.pyi').write_text('\n'.join(f"from {'.' + m if not o else m[cut:]} import {', '.join(f'{n} as {n}' for n in sorted(ns))}" for m, ns in sorted(by.items())) + '\n')
    if not (d/'__init__.py').exists():
        (d/'__init__.py').write_text('"""%s"""\n\nimport lazy_loader\n\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n' % docs.get(o, 'TODO'))
for d in sorted({p for f in root.rglob('*.py') for p in f.relative_to(root).parents if str(p) != '.'}):
    init = root/d/'__init__.py'
    if not init.exists(): init.write_text('"""%s"""\n' % docs.get('.'.join(d.parts), 'TODO'))
for d in sorted((x for x in root.rglob('*') if x.is_dir()), reverse=True):
    if d.name == '__pycache__': 
        import shutil; shutil.rmtree(d)
for d in sorted((x for x in root.rglob('*') if x.is_dir()), reverse=True):
    if not any(d.iterdir()): d.rmdir()
