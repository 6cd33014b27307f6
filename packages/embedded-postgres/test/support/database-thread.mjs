/** The program of the database thread, from its source. */
// As in child-program.ts: a thread has no loader but its own.
if (Number(process.versions.node.split('.')[0]) < 24) (await import('tsx/esm/api')).register()
await import('../../src/thread/main.ts')
