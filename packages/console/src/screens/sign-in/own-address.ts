/** Addresses of screens. The one that the user came from or was sent to may not lead anywhere else. */
const screens = /^(p|runs|settings)(\/|$)|^$/

/**
 * The address that `to` names inside the console, with its search, relative to `base`. Anything else is `/`.
 *
 * @param to for example `/p/1/v/live/prompts?tab=run`
 * @param base the address of the console, with a slash at the end
 */
export function ownAddress(to: string | undefined, base: URL): string {
  if (!to?.startsWith('/') || /^\/[/\\]/.test(to)) return '/'
  const url = URL.parse(to.slice(1), base)
  if (!url || url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return '/'
  const path = url.pathname.slice(base.pathname.length)
  return screens.test(path) ? `/${path}${url.search}` : '/'
}
