import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, type MouseEvent, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { BarSlot, Screen } from '../ui/screen.tsx'
import { Skeleton } from '../ui/states.tsx'
import { Toasts } from '../ui/toast.tsx'
import { Failure } from './failure.tsx'
import css from './frame/frame.module.css'
import { Lines } from './frame/lines/lines.tsx'
import { listenForUpgrade, noticeUpgrade } from './frame/lines/upgrade.ts'
import { Overlays, openOverlay } from './frame/overlays.tsx'
import { projectIdOf, useKeptRecents, useProjectId } from './frame/place.ts'
import { usePlaces } from './frame/rail/places.ts'
import { Rail } from './frame/rail/rail.tsx'
import { useKeptFocus, useTitleFocus } from './frame/title-focus.ts'
import { TopBar } from './frame/top-bar.tsx'
import { preferences, setPreferences, usePreferences } from './preferences.ts'
import { isSignedOut, sessionQuery, useBlocked, useSession } from './session.ts'
import { listenForKeys, useShortcuts } from './shortcuts.ts'

const GuideStrip = lazy(() => import('./frame/guide/guide.tsx'))

/** The frame of every screen. Without a session it leads to the sign-in screen, and back after it. */
export function Shell() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  const navigate = useNavigate()
  const { href, pathname } = useLocation()
  // The frame is still shown for a moment after the address has changed.
  const isTurnedAway = !session && isSignedOut(error) && pathname !== '/sign-in'
  useEffect(() => {
    if (isTurnedAway) void navigate({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true })
  }, [isTurnedAway, href, navigate])
  useEffect(listenForUpgrade, [])
  if (session) return <Frame serverVersion={session.version} />
  return (
    <main className={css['alone']}>
      {error && !isTurnedAway ? (
        <Failure error={error} what="The console could not be opened" onRetry={refetch} />
      ) : (
        <Skeleton />
      )}
    </main>
  )
}

function Frame({ serverVersion }: { serverVersion: string }) {
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const main = useRef<HTMLElement>(null)
  const [loadedVersion] = useState(serverVersion)
  useEffect(() => {
    if (serverVersion !== loadedVersion) noticeUpgrade()
  }, [serverVersion, loadedVersion])
  useEffect(listenForKeys, [])
  useFrameShortcuts()
  useKeptPlace()
  useKeptRecents()
  useKeptFocus(main)
  return (
    <div className={css['shell']}>
      <Rail>
        <SkipLink to={main} />
      </Rail>
      <div className={css['main']}>
        <main ref={main} className={css['main']}>
          <Lines />
          <TopBar slot={setSlot} />
          <FirstSteps />
          <BarSlot value={slot}>
            <div className={css['screen']} data-screen>
              <Suspense fallback={<LoadingScreen />}>
                <Outlet />
                <TitleFocus main={main} />
              </Suspense>
            </div>
          </BarSlot>
        </main>
        {/* Outside, so that a toast that goes gives the focus back to the part of the screen that had it. */}
        <Toasts />
      </div>
      <Overlays />
    </div>
  )
}

/** Beside the screen, so that it acts once the data of the screen is there. */
function TitleFocus({ main }: { main: RefObject<HTMLElement | null> }) {
  useTitleFocus(main)
  return null
}

/** In place of a screen whose data is loading. The frame around it stays. */
function LoadingScreen() {
  return (
    <Screen>
      <title>stet</title>
      <Skeleton lines={6} />
    </Screen>
  )
}

/** The first stop of Tab. */
function SkipLink({ to: main }: { to: RefObject<HTMLElement | null> }) {
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    main.current?.querySelector<HTMLElement>('h1')?.focus()
  }
  return (
    <a className="skip" href={location.href} onClick={skip}>
      Skip to the content
    </a>
  )
}

/** The steps after the first prompt, in its project. */
function FirstSteps() {
  const { guide } = usePreferences()
  const { project } = useParams({ strict: false })
  const { author } = useSession().apiKey
  if (!guide || String(guide.project) !== project || guide.author !== author.id) return null
  return (
    <Suspense>
      <GuideStrip guide={guide} />
    </Suspense>
  )
}

function useFrameShortcuts(): void {
  const navigate = useNavigate()
  const places = usePlaces()
  const group = 'Everywhere'
  const needsWrite = useBlocked('write')
  const isRestricted = useSession().apiKey.projectId !== null
  const needsProject = useProjectId() === null && 'open a project first'
  useShortcuts([
    { keys: 'mod+k', label: 'Find anything', group, inPalette: false, run: () => openOverlay('palette') },
    { keys: '?', label: 'Show all keyboard shortcuts', group, run: () => openOverlay('keys') },
    ...places.map(({ name, icon: _, keys, start: __, blocked, ...address }) => ({
      ...{ keys, label: `Go to ${name.toLowerCase()}`, group, blocked },
      run: () => void navigate(address),
    })),
    {
      keys: 'g 0',
      label: 'Go to the home screen',
      group,
      run: () => void navigate({ to: '/', state: { isHomeWanted: true } }),
    },
    { label: 'New draft', group, blocked: needsProject || needsWrite, run: () => openOverlay('new-draft') },
    {
      label: 'New project',
      group,
      blocked: isRestricted ? 'your key is for one project only' : needsWrite,
      run: () => openOverlay('new-project'),
    },
  ])
}

/** `/` opens the person's project again, in the same draft. */
function useKeptPlace(): void {
  const { project, version } = useParams({ strict: false })
  const { id } = useSession().apiKey.author
  useEffect(() => {
    const { places } = preferences()
    if (project && projectIdOf(project) !== null)
      setPreferences({ places: { ...places, [id]: { project, version: version ?? places[id]?.version ?? 'live' } } })
  }, [project, version, id])
}
