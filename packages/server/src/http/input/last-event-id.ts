/** The event that a reader saw last, from `Last-Event-ID`; 0 when it has seen none or shows no integer. */
export function lastEventId(header: string | undefined): number {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return 0
  return Math.min(Number(header), Number.MAX_SAFE_INTEGER)
}
