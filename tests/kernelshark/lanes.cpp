// SPDX-License-Identifier: GPL-2.0
/*
 * lanes PLUGIN TRACE COLUMNS: what KernelShark's plugin PLUGIN draws of TRACE, without a screen.
 *
 * Loads both as KernelShark does, and draws the lane of each task, COLUMNS pixels wide. Prints
 *	time FIRST LAST			ns, of the columns' two ends
 *	lane PID COMMAND
 *	box X0 X1 Y0 Y1 RRGGBB		of the last lane; columns from 0, per mille of its height from its base
 *	text X LABEL			of the last box
 * In the place of OpenGL, the plugin's calls of libkshark-plot come here.
 *
 * exit status: 0; 1 with a message if something cannot be loaded; 2 usage
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "KsPlotTools.hpp"
#include "KsPlugins.hpp"
#include "libkshark-model.h"
#include "libkshark-plot.h"
#include "libkshark-plugin.h"
#include "libkshark.h"

namespace
{
constexpr int BASE = 2000, HEIGHT = 1000;

int left; /* where the first column is */

[[noreturn]] void fail(const char *what, const char *name)
{
	fprintf(stderr, "lanes: cannot %s: %s\n", what, name);
	exit(1);
}

void draw_lane(kshark_data_stream *stream, kshark_trace_histo *histo, int pid)
{
	KsPlot::ColorTable none;
	KsPlot::Graph graph(histo, &none, &none);
	KsPlot::PlotObjList shapes;
	KsCppArgV argv;
	char *command = kshark_comm_from_pid(stream->stream_id, pid);

	graph.setHeight(HEIGHT);
	graph.setBase(BASE);
	left = graph.bin(0)._base.x();
	argv._histo = histo;
	argv._graph = &graph;
	argv._shapes = &shapes;
	printf("lane %d %s\n", pid, command ? command : "?");
	free(command);
	for (auto *handler = stream->draw_handlers; handler; handler = handler->next)
		handler->draw_func(argv.toC(), stream->stream_id, pid, KSHARK_TASK_DRAW);
	for (KsPlot::PlotObject *shape : shapes) {
		shape->draw();
		delete shape;
	}
}
} // namespace

extern "C" {
void ksplot_draw_polygon(const ksplot_point *points, size_t n, const ksplot_color *color, float)
{
	int x0 = points[0].x, x1 = x0, y0 = points[0].y, y1 = y0;

	for (size_t i = 1; i < n; i++) {
		x0 = std::min(x0, points[i].x);
		x1 = std::max(x1, points[i].x);
		y0 = std::max(y0, points[i].y); /* downwards */
		y1 = std::min(y1, points[i].y);
	}
	printf("box %d %d %d %d %02x%02x%02x\n", x0 - left, x1 - left, BASE - y0, BASE - y1,
	       color->red, color->green, color->blue);
}

void ksplot_print_text(const ksplot_font *, const ksplot_color *, float x, float, const char *text)
{
	printf("text %d %s\n", (int)x - left, text);
}

/* Every character is ten pixels wide. */
char *ksplot_find_font_file(const char *, const char *)
{
	return strdup("a font");
}

bool ksplot_init_font(ksplot_font *font, float, const char *)
{
	font->texture_id = 2; /* it is loaded */
	for (auto &character : font->cdata)
		character.xadvance = 10;
	return true;
}
}

int main(int argc, char **argv)
{
	kshark_context *context = nullptr;
	kshark_entry **entries;
	kshark_trace_histo histo;
	int columns = argc == 4 ? atoi(argv[3]) : 0;
	int *pids;

	if (columns < 1) {
		fprintf(stderr, "usage: lanes PLUGIN TRACE COLUMNS\n");
		return 2;
	}
	if (!kshark_instance(&context))
		fail("begin", "no context");
	kshark_plugin_list *plugin = kshark_register_plugin(context, "mts", argv[1]);
	if (!plugin || !plugin->process_interface)
		fail("load the plugin", argv[1]);

	int sd = kshark_open(context, argv[2]);
	if (sd < 0)
		fail("open the trace", argv[2]);
	kshark_data_stream *stream = kshark_get_data_stream(context, sd);
	kshark_register_plugin_to_stream(stream, plugin->process_interface, true);
	kshark_handle_all_dpis(stream, KSHARK_PLUGIN_INIT);

	ssize_t n = kshark_load_entries(context, sd, &entries);
	if (n < 1)
		fail("load the trace's events", argv[2]);
	ksmodel_init(&histo);
	ksmodel_set_bining(&histo, columns, entries[0]->ts, entries[n - 1]->ts);
	ksmodel_fill(&histo, entries, n);
	printf("time %lld %lld\n", (long long)histo.min, (long long)histo.max);

	ssize_t n_pids = kshark_get_task_pids(context, sd, &pids);
	for (ssize_t i = 0; i < n_pids; i++)
		draw_lane(stream, &histo, pids[i]);
	free(pids);

	ksmodel_clear(&histo);
	for (ssize_t i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	kshark_handle_all_dpis(stream, KSHARK_PLUGIN_CLOSE);
	kshark_close(context, sd);
	kshark_free(context);
	return 0;
}
