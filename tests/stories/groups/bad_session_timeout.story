# Session timeouts have bounds.
> join a session=5999
a: bad-session-timeout
> join a session=1800001
a: bad-session-timeout
> join a session=6000
a: member-id-required (a-3)
