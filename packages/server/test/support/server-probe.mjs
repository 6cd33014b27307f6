/**
 * Loaded into a server process by `--import`. On request, collects garbage and reports the process's memory and
 * handles.
 */

const warnings = []
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`))

process.on('message', () => {
  // Two collections, because finalizers of the first one may keep objects.
  globalThis.gc()
  setImmediate(() => {
    globalThis.gc()
    const { heapUsed } = process.memoryUsage()
    const resources = {}
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
    const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
    process.send({ heapUsed, resources, listeners, warnings })
  })
})
// The channel must not keep a stopped server alive. The server's threads load this file too, and have none.
process.channel?.unref()
