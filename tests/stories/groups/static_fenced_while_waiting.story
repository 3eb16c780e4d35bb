# The older process waits for its join, and another one for its sync, when the newer one comes.
> join a instance=A
> join a2 instance=A
a: fenced-instance (a-1)
> wait 6000
a2: joined a2-1 gen=1 range leads: a2-1   (at 3000)
> join b2 instance=B
> join a2
a2: joined a2-1 gen=2 range leads: a2-1 b2-1
b2: joined b2-1 gen=2 range leader=a2-1
> sync b2
> join b3 instance=B
b2: fenced-instance
> join a2
a2: joined a2-1 gen=3 range leads: a2-1 b3-1
b3: joined b3-1 gen=3 range leader=a2-1
