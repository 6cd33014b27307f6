import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { openInBrowser } from '../../ui/open-browser.ts'
import { createSignInLink, linkTo } from './sign-in-link.ts'

interface ConsoleInput {
  path: string | undefined
  opensBrowser: boolean
}

export const command = defineCommand({
  summary: 'Opens the console in a browser, signed in with your API key.',
  examples: ['stet console', 'stet console /p/1/history', 'stet console --no-open'],
  args: { '[path]': 'page of the console, such as /settings/keys' },
  flags: { '--no-open': 'only print the link; it works once, for 60 seconds' },
  parse(raw): ConsoleInput {
    const [path] = raw.args
    if (path !== undefined && !/^\/(?!\/)/.test(path)) {
      throw new CliError('usage', `The page must start with one slash, such as /p/1/history, not "${path}"`)
    }
    return { path, opensBrowser: raw.flags.open }
  },
  async run({ path }, ctx) {
    // Refuses a missing key with the same messages as every other command.
    await ctx.client()
    const { baseUrl, apiKey, timeoutMs } = await ctx.settings()
    const link = await createSignInLink({ baseUrl: baseUrl.value, apiKey: apiKey?.value ?? '', timeoutMs })
    return { url: linkTo(link.url, path), expiresAt: link.expiresAt }
  },
  async print({ url }, ctx, { opensBrowser }) {
    ctx.io.out(`${url}\n`)
    if (opensBrowser) await openInBrowser(url, ctx)
  },
})
