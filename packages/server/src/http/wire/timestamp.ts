/** An instant as it travels: ISO 8601 in UTC with milliseconds. */
export function timestamp(date: Date): string {
  return date.toISOString()
}

export function optionalTimestamp(date: Date | null): string | null {
  return date === null ? null : date.toISOString()
}
