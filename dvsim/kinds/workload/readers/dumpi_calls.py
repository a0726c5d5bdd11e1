"""What DUMPI writes of each MPI call: its numbers and the arguments behind its times.

Records have no length, so the arguments of every call must be known to find the next one. The
layouts are those of sst-dumpi 1.0 to 13; each letter is one argument:

``i`` 32 bits, ``l`` 64 bits, ``h`` 16 bits (handles of types, communicators, groups …), ``b`` 8
bits, ``I`` a list of 32 bits, ``H`` a list of 16 bits, ``B`` a list of 8 bits, ``J`` a list of
lists, ``s`` a text, ``S`` statuses, ``A`` texts. From ``?`` to ``!`` stands what only the root has.
"""

from __future__ import annotations

_NAMES = """
Send Recv Get_count Bsend Ssend Rsend Buffer_attach Buffer_detach Isend Ibsend Issend Irsend Irecv
Wait Test Request_free Waitany Testany Waitall Testall Waitsome Testsome Iprobe Probe Cancel
Test_cancelled Send_init Bsend_init Ssend_init Rsend_init Recv_init Start Startall Sendrecv
Sendrecv_replace Type_contiguous Type_vector Type_hvector Type_indexed Type_hindexed Type_struct
Address Type_extent Type_size Type_lb Type_ub Type_commit Type_free Get_elements Pack Unpack
Pack_size Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv
Reduce Op_create Op_free Allreduce Reduce_scatter Scan Group_size Group_rank Group_translate_ranks
Group_compare Comm_group Group_union Group_intersection Group_difference Group_incl Group_excl
Group_range_incl Group_range_excl Group_free Comm_size Comm_rank Comm_compare Comm_dup Comm_create
Comm_split Comm_free Comm_test_inter Comm_remote_size Comm_remote_group Intercomm_create
Intercomm_merge Keyval_create Keyval_free Attr_put Attr_get Attr_delete Topo_test Cart_create
Dims_create Graph_create Graphdims_get Graph_get Cartdim_get Cart_get Cart_rank Cart_coords
Graph_neighbors_count Graph_neighbors Cart_shift Cart_sub Cart_map Graph_map Get_processor_name
Get_version Errhandler_create Errhandler_set Errhandler_get Errhandler_free Error_string
Error_class Wtime Wtick Init Finalize Initialized Abort Pcontrol Close_port Comm_accept
Comm_connect Comm_disconnect Comm_get_parent Comm_join Comm_spawn Comm_spawn_multiple Lookup_name
Open_port Publish_name Unpublish_name Accumulate Get Put Win_complete Win_create Win_fence
Win_free Win_get_group Win_lock Win_post Win_start Win_test Win_unlock Win_wait Alltoallw Exscan
Add_error_class Add_error_code Add_error_string Comm_call_errhandler Comm_create_keyval
Comm_delete_attr Comm_free_keyval Comm_get_attr Comm_get_name Comm_set_attr Comm_set_name
File_call_errhandler Grequest_complete Grequest_start Init_thread Is_thread_main Query_thread
Status_set_cancelled Status_set_elements Type_create_keyval Type_delete_attr Type_dup
Type_free_keyval Type_get_attr Type_get_contents Type_get_envelope Type_get_name Type_set_attr
Type_set_name Type_match_size Win_call_errhandler Win_create_keyval Win_delete_attr
Win_free_keyval Win_get_attr Win_get_name Win_set_attr Win_set_name Alloc_mem
Comm_create_errhandler Comm_get_errhandler Comm_set_errhandler File_create_errhandler
File_get_errhandler File_set_errhandler Finalized Free_mem Get_address Info_create Info_delete
Info_dup Info_free Info_get Info_get_nkeys Info_get_nthkey Info_get_valuelen Info_set
Pack_external Pack_external_size Request_get_status Type_create_darray Type_create_hindexed
Type_create_hvector Type_create_indexed_block Type_create_resized Type_create_struct
Type_create_subarray Type_get_extent Type_get_true_extent Unpack_external Win_create_errhandler
Win_get_errhandler Win_set_errhandler File_open File_close File_delete File_set_size
File_preallocate File_get_size File_get_group File_get_amode
"""
NAMES = tuple(_NAMES.split())
"""Calls in the order of their numbers, from 0; behind them are more of files."""

ALL_CALLS = 290
FUNCTION_ENTER, FUNCTION_EXIT, END = ALL_CALLS + 1, ALL_CALLS + 2, ALL_CALLS + 3

_SEND, _ISEND, _TYPE, _TYPES = "ihiih", "ihiihi", "ihh", "iIIhh"

LAYOUTS: dict[str, str] = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), _SEND),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend", "Irecv"), _ISEND),
    **dict.fromkeys(("Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init"), _ISEND),
    "Recv": "ihiihS", "Get_count": "Shi", "Buffer_attach": "i", "Buffer_detach": "i",
    "Wait": "iS", "Test": "iiS", "Request_free": "i", "Waitany": "iIiS", "Testany": "iIiiS",
    "Waitall": "iIS", "Testall": "iIiS", "Waitsome": "iIiIS", "Testsome": "iIiIS",
    "Iprobe": "iihiS", "Probe": "iihS", "Cancel": "i", "Test_cancelled": "Si", "Start": "i",
    "Startall": "iI", "Sendrecv": "ihiiihiihS", "Sendrecv_replace": "ihiiiihS",
    "Type_contiguous": _TYPE, "Type_vector": "iiihh", "Type_hvector": "iiihh",
    "Type_indexed": _TYPES, "Type_hindexed": _TYPES, "Type_struct": "iIIHh", "Address": "i",
    **dict.fromkeys(("Type_extent", "Type_size", "Type_lb", "Type_ub"), "hi"),
    "Type_commit": "h", "Type_free": "h", "Get_elements": "Shi", "Pack": "ihiiih",
    "Unpack": "iiiihh", "Pack_size": "ihhi", "Barrier": "h", "Bcast": "ihih",
    "Gather": "iihih?ih", "Gatherv": "iiihih?II!h", "Scatter": "iihih?ih", "Scatterv": "iihihih?II",
    "Allgather": "ihihh", "Allgatherv": "iihIIhh", "Alltoall": "ihihh", "Alltoallv": "iIIhIIhh",
    "Reduce": "ihbih", "Op_create": "ib", "Op_free": "b", "Allreduce": "ihbh",
    "Reduce_scatter": "iIhbh", "Scan": "ihbh", "Group_size": "hi", "Group_rank": "hi",
    "Group_translate_ranks": "hiIhI", "Group_compare": "hhb", "Comm_group": "hh",
    **dict.fromkeys(("Group_union", "Group_intersection", "Group_difference"), "hhh"),
    "Group_incl": "hiIh", "Group_excl": "hiIh", "Group_range_incl": "hiJh",
    "Group_range_excl": "hiJh", "Group_free": "h", "Comm_size": "hi", "Comm_rank": "hi",
    "Comm_compare": "hhb", "Comm_dup": "hh", "Comm_create": "hhh", "Comm_split": "hiih",
    "Comm_free": "h", "Comm_test_inter": "hi", "Comm_remote_size": "hi", "Comm_remote_group": "hh",
    "Intercomm_create": "hihiih", "Intercomm_merge": "hih", "Keyval_create": "h",
    "Keyval_free": "h", "Attr_put": "hi", "Attr_get": "hii", "Attr_delete": "hi",
    "Topo_test": "hb", "Cart_create": "hiIIih", "Dims_create": "iiII", "Graph_create": "ihiIIih",
    "Graphdims_get": "hii", "Graph_get": "iihiiII", "Cartdim_get": "hi", "Cart_get": "ihiIII",
    "Cart_rank": "ihIi", "Cart_coords": "ihiiI", "Graph_neighbors_count": "hii",
    "Graph_neighbors": "ihiiI", "Cart_shift": "hiiii", "Cart_sub": "ihIh", "Cart_map": "hiIIi",
    "Graph_map": "ihiIIi", "Get_processor_name": "si", "Get_version": "ii",
    "Errhandler_create": "h", "Errhandler_set": "hh", "Errhandler_get": "hh",
    "Errhandler_free": "h", "Error_string": "isi", "Error_class": "ii", "Wtime": "", "Wtick": "",
    "Init": "A", "Finalize": "", "Initialized": "i", "Abort": "hi", "Close_port": "s",
    "Comm_accept": "shihh", "Comm_connect": "shihh", "Comm_disconnect": "h",
    "Comm_get_parent": "h", "Comm_join": "ih", "Lookup_name": "shs", "Open_port": "hs",
    "Publish_name": "shs", "Unpublish_name": "shs", "Accumulate": "ihiiihbh", "Get": "ihiiihh",
    "Put": "ihiiihh", "Win_complete": "h", "Win_create": "iihhh", "Win_fence": "bh",
    "Win_free": "h", "Win_get_group": "hh", "Win_lock": "bibh", "Win_post": "hbh",
    "Win_start": "hbh", "Win_test": "hi", "Win_unlock": "ih", "Win_wait": "h",
    "Alltoallw": "iIIHIIHh", "Exscan": "ihbh", "Add_error_class": "i", "Add_error_code": "ii",
    "Add_error_string": "is", "Comm_call_errhandler": "hi", "Comm_create_keyval": "h",
    "Comm_delete_attr": "hh", "Comm_free_keyval": "h", "Comm_get_attr": "hhi",
    "Comm_get_name": "hsi", "Comm_set_attr": "hh", "Comm_set_name": "hs",
    "File_call_errhandler": "hi", "Grequest_complete": "i", "Grequest_start": "i",
    "Init_thread": "Abb", "Is_thread_main": "i", "Query_thread": "b",
    "Status_set_cancelled": "Si", "Status_set_elements": "Shi", "Type_create_keyval": "h",
    "Type_delete_attr": "hh", "Type_dup": "hh", "Type_free_keyval": "h", "Type_get_attr": "hhi",
    "Type_get_contents": "iiihiiiIIH", "Type_get_envelope": "hiiib", "Type_get_name": "hsi",
    "Type_set_attr": "hh", "Type_set_name": "hs", "Type_match_size": "bih",
    "Win_call_errhandler": "hi", "Win_create_keyval": "h", "Win_delete_attr": "hh",
    "Win_free_keyval": "h", "Win_get_attr": "hhi", "Win_get_name": "hsi", "Win_set_attr": "hh",
    "Win_set_name": "hs", "Alloc_mem": "ih", "Comm_create_errhandler": "h",
    "Comm_get_errhandler": "hh", "Comm_set_errhandler": "hh", "File_create_errhandler": "h",
    "File_get_errhandler": "hh", "File_set_errhandler": "hh", "Finalized": "i", "Free_mem": "",
    "Get_address": "i", "Info_create": "h", "Info_delete": "hs", "Info_dup": "hh",
    "Info_free": "h", "Info_get": "hsisi", "Info_get_nkeys": "hi", "Info_get_nthkey": "his",
    "Info_get_valuelen": "hsii", "Info_set": "hss", "Pack_external": "sihiii",
    "Pack_external_size": "sihi", "Request_get_status": "iiS", "Type_create_darray": "iiiIBIIbhh",
    "Type_create_hindexed": _TYPES, "Type_create_hvector": "iiihh",
    "Type_create_indexed_block": "iiIhh", "Type_create_resized": "hiih",
    "Type_create_struct": "iIIHh", "Type_create_subarray": "iIIIbhh", "Type_get_extent": "hii",
    "Type_get_true_extent": "hii", "Unpack_external": "siiiih", "Win_create_errhandler": "h",
    "Win_get_errhandler": "hh", "Win_set_errhandler": "hh", "File_open": "hsbhh",
    "File_close": "h", "File_delete": "sh", "File_set_size": "hl", "File_preallocate": "hl",
    "File_get_size": "hl", "File_get_group": "hh", "File_get_amode": "hb",
}  # fmt: skip
"""Call → the letters of its arguments; a call that is missing here ends the reading."""

ROOT = {"Gather": (0, 3), "Gatherv": (0, 4), "Scatter": (0, 3), "Scatterv": (0, 5)}
"""Where the own rank and the root stand in calls with ``?``."""
