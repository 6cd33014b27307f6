import type { DefaultTheme } from 'vitepress'
import { decisions } from './site-pages.ts'

const group = (text: string, pages: Record<string, string>): DefaultTheme.SidebarItem => ({
  text,
  items: Object.entries(pages).map(([link, title]) => ({ text: title, link })),
})

export function sidebar(): DefaultTheme.Sidebar {
  return {
    '/adr/': [{ text: 'Decisions', items: decisions() }],
    '/': [
      group('Quick starts', {
        '/start/application': 'Application developers',
        '/start/prompts': 'Prompt authors',
        '/start/operate': 'Operators',
        '/start/openai-clients': "OpenAI's clients",
        '/start/from-latitude': 'From Latitude',
        '/start/from-langfuse': 'From Langfuse',
        '/start/from-openai': 'From OpenAI prompts',
        '/overview': 'Everything in one walk',
      }),
      group('Prompts', {
        '/prompts': 'The language',
        '/language': 'Language reference',
        '/console': 'The console',
        '/versions': 'Versions',
        '/runs': 'Runs',
        '/feedback': 'Feedback',
        '/tools': 'Tools',
        '/evaluations': 'Evaluations and logs',
        '/evals': 'Compare a draft with live',
        '/stats': 'Stats',
        '/providers': 'Providers',
        '/protocols': 'Provider protocols',
        '/ci': 'CI',
        '/cli': 'Command line',
      }),
      group('Applications', {
        '/sdk/': 'The client library',
        '/sdk/runs-and-streams': 'Runs and streams',
        '/sdk/background': 'Background runs',
        '/sdk/chat': 'Chat',
        '/sdk/tools': 'Tools in your code',
        '/sdk/typed-prompts': 'Typed prompts',
        '/sdk/prompts': 'Reading and writing prompts',
        '/sdk/errors': 'Errors and retries',
        '/sdk/frontends': 'Web pages',
        '/sdk/rendering': 'Rendering',
        '/sdk/testing': 'Testing',
        '/http': 'HTTP and events',
        '/errors': 'All errors',
      }),
      group('Servers', {
        '/self-hosting': 'Self-hosting',
        '/scaling': 'Several servers',
        '/configuration': 'Configuration',
        '/observability': 'Observability',
        '/metrics': 'Metrics and spans',
        '/reliability': 'Reliability',
        '/security': 'Security',
        '/privacy': 'Privacy',
        '/performance': 'Performance',
        '/troubleshooting': 'Troubleshooting',
      }),
      group('Proof', {
        '/proof/reliability': 'Reliability',
        '/proof/security': 'Security',
        '/proof/performance': 'Performance',
      }),
      group('Moving', {
        '/moving': 'From the discontinued service',
        '/sdk/migration': 'From its TypeScript client',
        '/python': 'Python',
        '/compatibility': 'Compatibility',
      }),
      group('The project', {
        '/changelog': 'Changelog',
        '/architecture': 'Architecture',
        '/contributing': 'Contributing',
        '/adr/': 'Decisions',
        '/reporting': 'Reporting a vulnerability',
      }),
    ],
  }
}
