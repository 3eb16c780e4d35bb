# A topic is deleted: what was committed of it goes too.
> commit - t/0=5 t/1=6 u/0=7
log offset t/0=5
log offset t/1=6
log offset u/0=7
-: committed t/0
-: committed t/1
-: committed u/0
> forget-topic t
log forgot t/0
log forgot t/1
> fetch
admin: u/0=7
