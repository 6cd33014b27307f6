/** Tells the parts of the page that show runs when a run of this tab begins, changes or ends. */
const watchers = new Set<() => void>()

export function watchRuns(listener: () => void): () => void {
  watchers.add(listener)
  return () => watchers.delete(listener)
}

export function announce(): void {
  for (const watcher of watchers) watcher()
}
