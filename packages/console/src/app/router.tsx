import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { DiffLayout } from '../editor/diff/text-diff.tsx'
import { type Arm, readArms } from '../runs/compare/arms.ts'
import { runFilter } from '../runs/run-filter.ts'
import { overviewSearch } from '../screens/overview/ranges.ts'
import { isPromptTab } from '../screens/prompts/panes/prompt-tabs.ts'
import { KnownProject, KnownVersion, NoPage } from './frame/missing.tsx'
import { Broken, Root } from './frame/root.tsx'
import { screen } from './frame/screen.ts'
import { Shell } from './shell.tsx'

// The one table of addresses. Screens are loaded when they are first shown.
const root = createRootRoute({ component: Root })
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to }): { to?: string } => (typeof to === 'string' ? { to } : {}),
  component: screen(() => import('../screens/sign-in/page.tsx'), 'SignInPage'),
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: screen(() => import('../screens/home/page.tsx'), 'HomePage'),
})

const project = createRoute({
  getParentRoute: () => shell,
  path: '/p/$project',
  beforeLoad: ({ params, location }) => {
    if (location.pathname.replace(/\/$/, '').endsWith(`/p/${params.project}`))
      throw redirect({ to: '/p/$project/v/$version/prompts', params: { ...params, version: 'live' } })
  },
  component: KnownProject,
})
const KeptTexts = screen(() => import('../screens/prompts/kept-texts.tsx'), 'KeptTexts')
const version = createRoute({
  getParentRoute: () => project,
  path: '/v/$version',
  component: () => <KnownVersion kept={<KeptTexts />} />,
})
const prompts = createRoute({
  getParentRoute: () => version,
  path: '/prompts',
  component: screen(() => import('../screens/prompts/page.tsx'), 'PromptsPage'),
})
const prompt = createRoute({
  getParentRoute: () => prompts,
  path: '/$',
  validateSearch: ({ tab, example, experiment, run, arms, line }: Record<string, unknown>) => ({
    ...(isPromptTab(tab) && { tab }),
    ...(typeof example === 'string' && { example }),
    ...(typeof experiment === 'string' && { experiment }),
    // The uuid of the shown run, or of its conversation.
    ...(typeof run === 'string' && { run }),
    // The arms that the run pane compares.
    ...armsIn(arms),
    // The line that the editor shows, counted from 1.
    ...(Number.isInteger(line) && { line: Number(line) }),
  }),
})
const changes = createRoute({
  getParentRoute: () => version,
  path: '/changes',
  validateSearch: diffSearch,
  component: screen(() => import('../screens/changes/page.tsx'), 'ChangesPage'),
})
const history = createRoute({
  getParentRoute: () => project,
  path: '/history',
  validateSearch: diffSearch,
  component: screen(() => import('../screens/history/page.tsx'), 'HistoryPage'),
})
const overview = createRoute({
  getParentRoute: () => project,
  path: '/overview',
  validateSearch: overviewSearch,
  component: screen(() => import('../screens/overview/page.tsx'), 'OverviewPage'),
})
const runs = createRoute({
  getParentRoute: () => project,
  path: '/runs',
  validateSearch: runFilter,
  component: screen(() => import('../screens/runs/page.tsx'), 'RunsPage'),
})
const experiment = createRoute({
  getParentRoute: () => project,
  path: '/experiments/$experiment',
  component: screen(() => import('../screens/experiments/page.tsx'), 'ExperimentPage'),
})
const queue = createRoute({
  getParentRoute: () => project,
  path: '/queue/$evaluation',
  validateSearch: ({ tag }): { tag?: string } => (typeof tag === 'string' ? { tag } : {}),
  component: screen(() => import('../screens/queue/page.tsx'), 'QueuePage'),
})
const judge = createRoute({
  getParentRoute: () => project,
  path: '/judges/$evaluation',
  component: screen(() => import('../screens/judge/page.tsx'), 'JudgePage'),
})
const historyEntry = createRoute({ getParentRoute: () => history, path: '/$entry' })

/** Takes the uuid of a run, or of a conversation for its latest run. */
const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$run',
  validateSearch: ({ tab, at }): { tab?: 'timeline' | 'events'; at?: number } => ({
    // Default: the messages.
    ...((tab === 'timeline' || tab === 'events') && { tab }),
    // The chosen span, by its place in the list, or the id of the chosen event.
    ...(Number.isInteger(at) && { at: Number(at) }),
  }),
  component: screen(() => import('../screens/runs/inspector/page.tsx'), 'RunPage'),
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: screen(() => import('../screens/settings/page.tsx'), 'SettingsPage'),
})
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$page', params: { page: 'keys' } })
  },
})
const settingsPage = createRoute({ getParentRoute: () => settings, path: '/$page' })

const routeTree = root.addChildren([
  signIn,
  shell.addChildren([
    home,
    project.addChildren([
      version.addChildren([prompts.addChildren([prompt]), changes]),
      history.addChildren([historyEntry]),
      overview,
      runs,
      experiment,
      queue,
      judge,
    ]),
    run,
    settings.addChildren([settingsStart, settingsPage]),
  ]),
])

export function createPageRouter(basepath: string) {
  return createRouter({
    routeTree,
    basepath,
    defaultPreload: false,
    scrollRestoration: false,
    defaultErrorComponent: Broken,
    defaultNotFoundComponent: NoPage,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPageRouter>
  }

  interface HistoryState {
    /** The person asked for the home screen, so it does not lead on to their one prompt. */
    isHomeWanted?: boolean
  }
}

function armsIn(value: unknown): { arms?: Arm[] } {
  const arms = readArms(value)
  return arms ? { arms } : {}
}

function diffSearch({ prompt, view }: Record<string, unknown>): { prompt?: string; view?: DiffLayout } {
  return {
    // The path of the prompt whose difference is shown.
    ...(typeof prompt === 'string' && { prompt }),
    ...((view === 'unified' || view === 'split') && { view }),
  }
}
