export interface Finding {
  name: string
  /** `skip`: could not be checked, or nothing to check. */
  status: 'ok' | 'warn' | 'fail' | 'skip'
  message: string
}
