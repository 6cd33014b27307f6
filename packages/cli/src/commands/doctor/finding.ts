/** The result of one check. */
export interface Finding {
  name: string
  /** `skip`: it could not be checked, or there is nothing to check. */
  status: 'ok' | 'warn' | 'fail' | 'skip'
  message: string
}
