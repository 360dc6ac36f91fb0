import sys,pathlib,ast,collections
root=pathlib.Path(sys.argv[1] if len(sys.argv)>1 else '.')/'alignkit'
new={};order=[]
for l in open('.regroup/tree.txt'):
    l=l.split('#')[0].strip()
    if not l: continue
    n,o=l.split('=');n=n.strip()
    for x in o.split():
        assert x not in new,x
        new[x]=n;order.append(x)
mods={}
for p in root.rglob('*.py'):
    m='.'.join(p.relative_to(root).with_suffix('').parts);mods[m]=p
docsonly=[m for m in mods if m.endswith('__init__') and len(mods[m].read_text().splitlines())<=7]
print('unmapped',[m for m in mods if m not in new and m not in docsonly])
print('gone',[o for o in new if o not in mods])
print('count',len(set(new.values())))
def resolve(m,n):
    full=f'{m}.{n}' if m else n
    if full in mods: return full
    if m in mods: return m
    if m+'.__init__' in mods: return m+'.__init__'
    return None
if '-g' in sys.argv:
    edges=collections.defaultdict(set); det=collections.defaultdict(set); why=collections.defaultdict(list)
    def room(x):
        n=new.get(x,x);return n.split('.')[0]
    for m,p in mods.items():
        if m not in new: continue
        t=ast.parse(p.read_text())
        tc=set()
        for node in ast.walk(t):
            if isinstance(node,ast.If) and isinstance(node.test,ast.Name) and node.test.id=='TYPE_CHECKING':
                tc.update(id(x) for s in node.body for x in ast.walk(s))
        for node in ast.walk(t):
            if isinstance(node,ast.ImportFrom) and node.module and node.module.split('.')[0]=='alignkit' and id(node) not in tc:
                for a in node.names:
                    r=resolve(node.module[9:],a.name)
                    if r and r in new and new[r]!=new[m]:
                        ra,rb=room(m),room(r)
                        edges[new[m]].add(new[r]); det[new[m],new[r]].add((m,r))
                        if ra!=rb: why[ra,rb].append((m,r))
    R=sorted({r for e in why for r in e})
    g={r:{b for a,b in why if a==r} for r in R}
    # scc
    import networkx as nx
    G=nx.DiGraph(list(why))
    for c in nx.strongly_connected_components(G):
        if len(c)>1:print('room cycle',c)
    rank=['errors','version','_support','model','io','stats','show','corpora','scoring','agreement','align','rules','cluster','audit','annotate','cli','__main__']
    for (a,b),w in sorted(why.items()):
        if a in rank and b in rank and rank.index(a)<rank.index(b): print(a,'->',b,len(w),w[:12])
    M=nx.DiGraph([(a,b) for a in edges for b in edges[a]])
    for c in nx.strongly_connected_components(M):
        if len(c)>1:
            print('module cycle',sorted(c))
            for a in c:
                for b in edges[a]&c:
                    print('    ',a,'->',b,sorted(det[a,b]))
    C=nx.condensation(G);print('longest room chain',len(nx.dag_longest_path(C)),[list(C.nodes[n]['members']) for n in nx.dag_longest_path(C)])
