import sys
s=open('.regroup/tree.txt').read()
def L(new,*olds):
    global s
    out=[];done=False
    for l in s.split('\n'):
        if '=' in l and not l.startswith('#'):
            n,o=l.split('=');n=n.strip();os=[x for x in o.split() if x not in olds]
            if n==new: os=os+[x for x in olds]; done=True
            if not os: continue
            l=f"{n} = {' '.join(os)}"
        out.append(l)
    if not done: out.append(f"{new} = {' '.join(olds)}")
    s='\n'.join(x for x in out if x)+'\n'
def J(new,*oldmods):
    for old in oldmods:
        for l in s.split('\n'):
            if l.startswith(old+' ='):
                L(new,*l.split('=')[1].split());break
        else: print('no',old)
def R(new,old):
    global s
    assert '\n'+old+' =' in s,old
    s=s.replace('\n'+old+' =','\n'+new+' =')
def save(): open('.regroup/tree.txt','w').write('\n'.join(sorted(s.strip().split('\n')))+'\n')
