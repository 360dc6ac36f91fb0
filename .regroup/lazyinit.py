"""packages with _HOMES -> lazy_loader stubs: lazyinit.py CHECKOUT"""
import ast,pathlib,sys
root=pathlib.Path(sys.argv[1])/'alignkit'
for p in root.rglob('__init__.py'):
    src=p.read_text()
    t=ast.parse(src)
    if p.with_suffix('.pyi').exists() or 'attach_stub' in src or '__all__' not in src or p.parent.name == 'cli': continue
    if 'lazy_names' in src:
        t.body=[n for n in t.body if not (isinstance(n,ast.ImportFrom) and n.module=='alignkit.lazy')]
        tc=[n for n in t.body if isinstance(n,ast.If)]
        t.body=[n for n in t.body if n not in tc]+[m for n in tc for m in n.body]
    plain=all(isinstance(n,(ast.Expr,ast.ImportFrom,ast.Assign)) for n in t.body)
    if '_HOMES' not in src and not plain: print('kept',p); continue
    homes=next((ast.literal_eval(n.value) for n in t.body if isinstance(n,ast.Assign) and getattr(n.targets[0],'id','')=='_HOMES'),{})
    doc=src[:src.index('"""',3)+3]
    away=[]
    for n in t.body:
        if isinstance(n,ast.ImportFrom) and n.module.startswith('alignkit'):
            rel=n.module[len('alignkit'):].lstrip('.'); pk='.'.join(p.parent.relative_to(root).parts)
            if not rel.startswith(pk): print('foreign',p,rel); away.append(f"from {n.module} import {', '.join(f'{a.name} as {a.name}' for a in n.names)}"); continue
            homes.setdefault(rel[len(pk):].lstrip('.'),())
            homes[rel[len(pk):].lstrip('.')]+=tuple(a.name for a in n.names)
    eager=[]
    every=next(ast.literal_eval(n.value) for n in t.body if isinstance(n,ast.Assign) and getattr(n.targets[0],'id','')=='__all__')
    lazy={n for v in homes.values() for n in v}
    body=doc+'\n\nimport lazy_loader\n\n'+'\n'.join(eager)+'\n\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n'
    rest=[n for n in every if n not in lazy]
    if rest: body+=f'__all__ += {rest!r}\n'.replace("'",'"')
    stub='\n'.join(f"from .{h} import {', '.join(f'{n} as {n}' for n in sorted(ns))}" for h,ns in sorted(homes.items()))+'\n'
    stub+='\n'.join(away)+'\n' if away else ''
    p.write_text(body);p.with_suffix('.pyi').write_text(stub)
    print(p,len(src.splitlines()),len(body.splitlines())+len(stub.splitlines()))

(root/'lazy.py').unlink(missing_ok=True)
