/** Fields of one logger event. They must not contain bodies, prompts, messages or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}
