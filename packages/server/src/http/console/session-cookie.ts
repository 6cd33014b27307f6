/** The cookie of a session. Browsers share cookies between the ports of a host, so its name contains the installation. */

export interface CookiePlace {
  /** The uuid of the installation. */
  installation: string
  /** Whether the browser uses https. */
  isSecure: boolean
}

/** Over http, browsers refuse cookies that have the prefix or `Secure`. */
export function sessionCookieName({ installation, isSecure }: CookiePlace): string {
  return `${isSecure ? '__Host-' : ''}stet-${installation.slice(0, 6)}`
}

/** @param seconds how long the browser keeps the cookie; 0 removes it. */
export function sessionCookie(place: CookiePlace, token: string, seconds: number): string {
  const secure = place.isSecure ? '; Secure' : ''
  return `${sessionCookieName(place)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`
}
