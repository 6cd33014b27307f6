/** Path and query of a request target in absolute form (`GET http://host/path`, RFC 9112, 3.2.2). */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const [origin] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(url) ?? []
  if (origin === undefined) return url
  const rest = url.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
