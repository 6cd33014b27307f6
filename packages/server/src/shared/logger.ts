/** A structured logger: an event name and allowed plain fields. Never log bodies, prompts, messages or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}
