export interface Log {
  error(event: string, fields: LogFields): void
  warn(event: string, fields: LogFields): void
  info(event: string, fields: LogFields): void
}

type LogFields = Readonly<Record<string, string | number>>
