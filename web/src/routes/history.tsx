import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { eventsQuery } from "../api/queries";
import { eventDetails } from "../lib/event_details";
import { eventName } from "../lib/event_names";
import { visible } from "../lib/format";
import { FigureHeader } from "../ui/figure_header";
import page from "../ui/page.module.css";
import { ScrollRegion } from "../ui/scroll";
import { Empty, Failure, Loading } from "../ui/states";
import { Exact } from "../ui/time";

const route = getRouteApi("/runs/$id/history");

/** Lists the events of a run by their numbers, which have no gaps. */
export function HistoryPage() {
  const { id } = route.useParams();
  const query = useQuery(eventsQuery(id));
  if (query.isPending) return <Loading what="the history" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="The history" retry={() => void query.refetch()} />;
  if (query.data.length === 0)
    return (
      <Empty title="No events yet">
        <p>Each change of the run's status is an event.</p>
      </Empty>
    );
  return (
    <div className={page.section}>
      <ScrollRegion label="events">
        <table>
          <thead>
            <tr>
              <FigureHeader>No.</FigureHeader>
              <th scope="col">When</th>
              <th scope="col">Event</th>
              <th scope="col">Details</th>
            </tr>
          </thead>
          <tbody>
            {query.data.map((event) => (
              <tr key={event.seq}>
                <td className="figure">{event.seq}</td>
                <td className={page.state}>
                  <Exact time={event.ts} />
                </td>
                <td>{visible(eventName(event.type))}</td>
                <td className={page.cell}>{eventDetails(event.data)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </div>
  );
}
