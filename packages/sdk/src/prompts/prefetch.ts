const PARALLEL_FETCHES = 4

export async function prefetch<P extends string>(
  paths: readonly P[],
  fetch: (path: P) => PromiseLike<unknown>,
): Promise<void> {
  const waiting = [...paths]
  const work = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await fetch(path)
  }
  await Promise.all(Array.from({ length: PARALLEL_FETCHES }, work))
}
