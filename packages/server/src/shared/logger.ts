/** Structured logger: an event name and an allow-list of plain fields; never bodies, prompts, messages or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}
