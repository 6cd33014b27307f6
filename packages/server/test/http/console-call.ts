import { type AnyBody, type ApiAnswer, type ApiCall, httpCall } from './api-call.ts'

export interface Browser {
  /** `name=value`, or undefined before the sign-in. */
  cookie: string | undefined
  /** Sends a request as a page of the console would. @param path complete, for example `/console/session`. */
  call<Body = AnyBody>(method: string, path: string, call?: Omit<ApiCall, 'key'>): Promise<ApiAnswer<Body>>
  signIn(body: Record<string, unknown>): Promise<ApiAnswer>
}

/** Keeps the last cookie that the server has set, as a browser does. */
export function browser(url: string): Browser {
  const self: Browser = {
    cookie: undefined,
    async call<Body>(method: string, path: string, call: Omit<ApiCall, 'key'> = {}) {
      const cookie = self.cookie === undefined ? {} : { cookie: self.cookie }
      const headers = { 'x-stet-console': '1', ...cookie, ...call.headers }
      const answer = await httpCall<Body>(method, `${url}${path}`, { ...call, headers })
      const [set] = answer.headers.getSetCookie()
      if (set !== undefined) self.cookie = set.includes('Max-Age=0') ? undefined : set.split(';')[0]
      return answer
    },
    signIn: (body) => self.call('POST', '/console/session', { body }),
  }
  return self
}

/** @returns the code of a new sign-in link. */
export async function codeOf(answer: Promise<ApiAnswer>): Promise<string> {
  const { status, text, body } = await answer
  if (status !== 201) throw new Error(`Expected a link, got ${status}: ${text}`)
  return String(body['url']).split('#')[1] ?? ''
}
