// SPDX-License-Identifier: GPL-2.0
/*
 * KernelShark plugin: the rotation, on the lanes of tasks. docs/howto-trace.md shows it.
 *
 * On the lane of mts_rotor: each slice in its bin's colour, and between two of them
 * the parts of the switch. On the lanes of jobs' tasks: a strip in the slice's colour
 * while the job may run, a grey one while it is frozen. Bins may overlap: a job that is
 * in the next one, too, runs on, in that one's colour. Which job a task is in is known
 * where the trace has cgroup_attach_task and sched_process_fork of it.
 */
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "KsPlotTools.hpp"
#include "KsPlugins.hpp"
#include "libkshark-plot.h"
#include "libkshark-plugin.h"
#include "libkshark.h"

namespace
{
constexpr int MAX_FIELDS = 5;

enum Event {
	SLICE_BEGIN,
	SLICE_END,
	SWITCH_BEGIN,
	SWITCH_END,
	FREEZE,
	THAW,
	JOB,
	ATTACH,
	FORK,
	N_EVENTS,
};

/* The fields of each event that are read, in this order. */
const struct {
	const char *name;
	const char *fields[MAX_FIELDS];
} events[N_EVENTS] = {
	{ "mts/mts_slice_begin", { "bin" } },
	{ "mts/mts_slice_end", { "bin" } },
	{ "mts/mts_switch_begin", { "to" } },
	{ "mts/mts_switch_end", { "to", "took_ns", "freeze_ns", "evict_ns", "bring_back_ns" } },
	{ "mts/mts_freeze", { "cgroup_id", "bin" } },
	{ "mts/mts_thaw", { "cgroup_id", "bin", "why" } },
	{ "mts/mts_job", { "cgroup_id", "bin", "what" } },
	{ "cgroup/cgroup_attach_task", { "dst_id", "pid" } },
	{ "sched/sched_process_fork", { "child_pid" } },
};

/* Values of module/events/trace.h for a job that is forgotten. */
constexpr int64_t THAW_FORGOTTEN = 4; /* enum mts_thaw_why */
constexpr int64_t JOB_FORGOTTEN = 2; /* enum mts_job_what */

struct Record {
	const kshark_entry *entry;
	Event event;
	int64_t values[MAX_FIELDS];
};

enum Kind {
	SLICE,
	PART_FREEZE,
	PART_EVICT,
	PART_BRING_BACK,
	PART_THAW,
	FROZEN,
	THAWED,
};

struct Span {
	int64_t from;
	int64_t to;
	Kind kind;
	int bin;
};

typedef std::vector<Span> Spans;

constexpr int64_t FOREVER = INT64_MAX;
constexpr int NO_BIN = -1;

/* One data stream. Records come processor by processor, so they are sorted at the end. */
class Trace
{
      public:
	void add(const Record &record)
	{
		_records.push_back(record);
		_built = false;
	}

	/* What to draw on a task's lane, in order of time. */
	const Spans &spans(int pid);

	std::map<int, Event> ids;

      private:
	void build();
	void rotor(const Record &r);
	void run_on(int64_t at);
	void job(const Record &r);
	void task(const Record &r);
	void add_switch(const Record &r);
	void open(Spans &spans, int64_t at, Kind kind, int bin);
	void close(Spans &spans, int64_t at);

	std::vector<Record> _records;
	bool _built = false;
	std::map<int, Spans> _rotors; /* by pid: one for each load of the module */
	std::map<int64_t, Spans> _jobs; /* by cgroup id */
	std::map<int, int64_t> _cgroup_of; /* the last one of each task */
	int _bin = NO_BIN; /* whose turn it is, or is to be after the switch */
};

void Trace::open(Spans &spans, int64_t at, Kind kind, int bin)
{
	close(spans, at);
	spans.push_back({ at, FOREVER, kind, bin });
}

void Trace::close(Spans &spans, int64_t at)
{
	if (!spans.empty() && spans.back().to == FOREVER)
		spans.back().to = at;
}

/* The parts of a switch, from the times that the event at its end has. */
void Trace::add_switch(const Record &r)
{
	Spans &spans = _rotors[r.entry->pid];
	const int64_t *v = r.values;
	int64_t at = r.entry->ts - v[1];
	const struct {
		Kind kind;
		int64_t ns;
	} parts[] = {
		{ PART_FREEZE, v[2] },
		{ PART_EVICT, v[3] },
		{ PART_BRING_BACK, v[4] },
		{ PART_THAW, v[1] - v[2] - v[3] - v[4] },
	};

	close(spans, at);
	for (const auto &part : parts) {
		spans.push_back({ at, at + part.ns, part.kind, (int)v[0] });
		at += part.ns;
	}
}

void Trace::rotor(const Record &r)
{
	Spans &spans = _rotors[r.entry->pid];

	if (r.event == SLICE_BEGIN)
		open(spans, r.entry->ts, SLICE, r.values[0]);
	else if (r.event == SWITCH_END)
		add_switch(r);
	else
		close(spans, r.entry->ts);
	_bin = r.event == SLICE_END ? NO_BIN : r.values[0];
	if (r.event == SLICE_BEGIN)
		run_on(r.entry->ts);
}

/* A slice begins: what is not frozen now runs in it. */
void Trace::run_on(int64_t at)
{
	for (auto &job : _jobs) {
		Spans &spans = job.second;

		if (!spans.empty() && spans.back().to == FOREVER && spans.back().kind == THAWED &&
		    spans.back().bin != _bin)
			open(spans, at, THAWED, _bin);
	}
}

void Trace::job(const Record &r)
{
	Spans &spans = _jobs[r.values[0]];
	int64_t ts = r.entry->ts;
	int bin = r.values[1];
	bool forgotten = (r.event == THAW && r.values[2] == THAW_FORGOTTEN) ||
			 (r.event == JOB && r.values[2] == JOB_FORGOTTEN);
	const Span *now = !spans.empty() && spans.back().to == FOREVER ? &spans.back() : nullptr;

	if (r.event == FREEZE)
		open(spans, ts, FROZEN, bin);
	else if (forgotten)
		close(spans, ts);
	else if (r.event == JOB && now && now->kind == FROZEN)
		return; /* A frozen job stays frozen until it is thawed, whatever bin it gets. */
	else if (bin <= NO_BIN)
		close(spans, ts);
	else if (!now || now->kind == FROZEN || (now->bin != bin && _bin == NO_BIN))
		/* It is thawed, or gets a new bin while it runs and none has its turn. */
		open(spans, ts, THAWED, _bin == NO_BIN ? bin : _bin);
}

void Trace::task(const Record &r)
{
	if (r.event == ATTACH) {
		_cgroup_of[r.values[1]] = r.values[0];
	} else {
		auto parent = _cgroup_of.find(r.entry->pid);

		if (parent != _cgroup_of.end())
			_cgroup_of[r.values[0]] = parent->second;
	}
}

void Trace::build()
{
	auto earlier = [](const Record &a, const Record &b) { return a.entry->ts < b.entry->ts; };

	_rotors.clear();
	_jobs.clear();
	_cgroup_of.clear();
	_bin = NO_BIN;
	std::stable_sort(_records.begin(), _records.end(), earlier);
	for (const Record &r : _records) {
		if (r.event <= SWITCH_END)
			rotor(r);
		else if (r.event <= JOB)
			job(r);
		else
			task(r);
	}
	_built = true;
}

const Spans &Trace::spans(int pid)
{
	static const Spans none;

	if (!_built)
		build();
	auto rotor = _rotors.find(pid);
	if (rotor != _rotors.end())
		return rotor->second;
	auto cgroup = _cgroup_of.find(pid);
	if (cgroup == _cgroup_of.end())
		return none;
	auto job = _jobs.find(cgroup->second);
	return job == _jobs.end() ? none : job->second;
}

/* ---- shapes ------------------------------------------------------------------ */

KsPlot::Color bin_color(int bin)
{
	static const int colors[][3] = {
		{ 76, 120, 168 }, { 245, 133, 24 },  { 84, 162, 75 },  { 178, 121, 162 },
		{ 238, 202, 59 }, { 114, 183, 178 }, { 157, 117, 93 }, { 255, 157, 166 },
	};
	const int *c = colors[(bin < 0 ? 0 : bin) % (sizeof(colors) / sizeof(colors[0]))];

	return KsPlot::Color(c[0], c[1], c[2]);
}

KsPlot::Color color_of(const Span &span)
{
	switch (span.kind) {
	case PART_FREEZE:
		return KsPlot::Color(120, 140, 190);
	case PART_EVICT:
		return KsPlot::Color(190, 50, 45);
	case PART_BRING_BACK:
		return KsPlot::Color(30, 120, 90);
	case PART_THAW:
		return KsPlot::Color(150, 150, 150);
	case FROZEN:
		return KsPlot::Color(205, 205, 205);
	default:
		return bin_color(span.bin);
	}
}

std::string label_of(const Span &span)
{
	switch (span.kind) {
	case SLICE:
		return "bin " + std::to_string(span.bin);
	case PART_FREEZE:
		return "freeze";
	case PART_EVICT:
		return "evict";
	case PART_BRING_BACK:
		return "back";
	default:
		return "";
	}
}

/* Loaded at the first use, because it needs OpenGL. NULL: there is no font. */
const ksplot_font *font()
{
	static ksplot_font loaded;
	static bool tried;

	if (!tried) {
		char *file = ksplot_find_font_file("FreeSans", "FreeSans");

		tried = true;
		if (file)
			ksplot_init_font(&loaded, 14, file);
		free(file);
	}
	return ksplot_font_is_loaded(&loaded) ? &loaded : nullptr;
}

/* Labels are printable ASCII. */
int width_of(const ksplot_font *f, const std::string &text)
{
	float width = 0;

	for (char c : text)
		width += f->cdata[c - KS_SPACE_CHAR].xadvance;
	return width;
}

class Box : public KsPlot::PlotObject
{
      public:
	Box(int x0, int x1, int y0, int y1, const Span &span)
	    : _corners{ { x0, y0 }, { x0, y1 }, { x1, y1 }, { x1, y0 } }, _label(label_of(span))
	{
		_color = color_of(span);
	}

      private:
	void _draw(const KsPlot::Color &color, float size) const override
	{
		static const ksplot_color white = { 255, 255, 255 };
		int x = _corners[0].x, width = _corners[2].x - x;
		const ksplot_font *f = _label.empty() ? nullptr : font();

		ksplot_draw_polygon(_corners, 4, color.color_c_ptr(), size);
		if (f && width_of(f, _label) + 8 < width)
			ksplot_print_text(f, &white, x + 4, _corners[0].y - 4, _label.c_str());
	}

	ksplot_point _corners[4];
	std::string _label;
};

/* Per mille of the lane's height, from its base. KernelShark draws running tasks up to 700. */
struct Range {
	int from;
	int to;
};

Range heights(Kind kind)
{
	switch (kind) {
	case SLICE:
		return { 0, 700 };
	case FROZEN:
	case THAWED:
		return { 780, 980 };
	default:
		return { 0, 450 };
	}
}

/* In bins of KernelShark's histogram, which are columns of pixels. */
int column(const kshark_trace_histo *histo, int64_t ts)
{
	ts = std::min(std::max(ts, histo->min), histo->max);
	return std::min<int64_t>((ts - histo->min) / histo->bin_size, histo->n_bins - 1);
}

void draw_span(KsCppArgV *argv, const Span &span)
{
	const KsPlot::Graph *graph = argv->_graph;
	Range range = heights(span.kind);
	int height = graph->height();
	KsPlot::Point a = graph->bin(column(argv->_histo, span.from))._base;
	KsPlot::Point b = graph->bin(column(argv->_histo, span.to))._base;

	/* Shapes narrower than a pixel are left out, except slices and frozen jobs. */
	if (a.x() == b.x() && span.kind != SLICE && span.kind != FROZEN)
		return;
	argv->_shapes->push_front(new Box(a.x(), std::max(b.x(), a.x() + 1),
					  a.y() - height * range.from / 1000,
					  a.y() - height * range.to / 1000, span));
}

std::map<int, std::unique_ptr<Trace>> traces; /* by data stream */

void draw(kshark_cpp_argv *argv_c, int sd, int pid, int action)
{
	KsCppArgV *argv = KS_ARGV_TO_CPP(argv_c);
	auto trace = traces.find(sd);

	if (!(action & KSHARK_TASK_DRAW) || trace == traces.end() || argv->_graph->size() == 0)
		return;
	for (const Span &span : trace->second->spans(pid))
		if (span.to > argv->_histo->min && span.from < argv->_histo->max)
			draw_span(argv, span);
}

/* ---- loading ----------------------------------------------------------------- */

void note(kshark_data_stream *stream, void *rec, kshark_entry *entry)
{
	Trace &trace = *traces.at(stream->stream_id);
	Record record = { entry, trace.ids.at(entry->event_id), {} };
	const auto &event = events[record.event];

	for (int i = 0; i < MAX_FIELDS && event.fields[i]; i++)
		if (kshark_read_record_field_int(stream, rec, event.fields[i], &record.values[i]) <
		    0)
			return;
	trace.add(record);
}

} // namespace

extern "C" {
/* Return: does the stream have events that the plugin knows? */
int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream)
{
	std::unique_ptr<Trace> trace(new Trace);

	if (kshark_find_event_id(stream, events[SLICE_BEGIN].name) < 0)
		return 0;
	for (int i = 0; i < N_EVENTS; i++) {
		int id = kshark_find_event_id(stream, events[i].name);

		if (id < 0)
			continue;
		trace->ids[id] = (Event)i;
		kshark_register_event_handler(stream, id, note);
	}
	traces[stream->stream_id] = std::move(trace);
	kshark_register_draw_handler(stream, draw);
	return 1;
}

int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream)
{
	auto trace = traces.find(stream->stream_id);

	if (trace == traces.end())
		return 0;
	for (const auto &id : trace->second->ids)
		kshark_unregister_event_handler(stream, id.first, note);
	kshark_unregister_draw_handler(stream, draw);
	traces.erase(trace);
	return 1;
}
}
