import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { experimentQuery } from '../../grid/queries.ts'
import { ResultsView } from '../../grid/results/results-view.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Time } from '../../ui/time.tsx'

const route = getRouteApi('/shell/p/$project/experiments/$experiment')

/** The results of an experiment, at its one address. */
export function ExperimentPage() {
  const { project, experiment: uuid } = route.useParams()
  const navigate = route.useNavigate()
  const { data } = useQuery(experimentQuery(uuid))
  return (
    <Screen>
      <title>{data ? `${data.path} · experiment · stet` : 'Experiment · stet'}</title>
      <ScreenTitle
        beside={
          data && (
            <span>
              {data.author.name}, <Time at={data.createdAt} />
            </span>
          )
        }
      >
        {data ? (
          <Link
            to="/p/$project/v/$version/prompts/$"
            params={{ project, version: data.arms.at(-1)?.versionUuid ?? 'live', _splat: data.path }}
            search={{ tab: 'examples', experiment: uuid }}
          >
            {data.path}
          </Link>
        ) : (
          'Experiment'
        )}
      </ScreenTitle>
      <ResultsView uuid={uuid} onExperiment={(next) => void navigate({ params: { project, experiment: next } })} />
    </Screen>
  )
}
