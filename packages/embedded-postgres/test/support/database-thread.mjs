/** The program of the database thread, from its source. */
// A thread does not inherit the loader of child-program.ts.
if (Number(process.versions.node.split('.')[0]) < 24) (await import('tsx/esm/api')).register()
await import('../../src/thread/main.ts')
