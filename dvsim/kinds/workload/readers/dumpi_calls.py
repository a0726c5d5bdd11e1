"""What DUMPI writes of each MPI call: its numbers and the arguments behind its times.

Records have no length, so the arguments of every call must be known to find the next one. The
layouts are those of sst-dumpi 1.0 to 13; each letter is one argument:

``i`` 32 bits, ``l`` 64 bits, ``h`` 16 bits (handles of types, communicators, groups …), ``b`` 8
bits, ``I`` a list of 32 bits, ``H`` a list of 16 bits, ``B`` a list of 8 bits, ``J`` a list of
lists, ``s`` a text, ``S`` statuses, ``A`` texts. From ``?`` to ``!`` stands what only the root has.
"""

from __future__ import annotations

_CALLS = """
Send:ihiih Recv:ihiihS Get_count:Shi Bsend:ihiih Ssend:ihiih Rsend:ihiih Buffer_attach:i
Buffer_detach:i Isend:ihiihi Ibsend:ihiihi Issend:ihiihi Irsend:ihiihi Irecv:ihiihi Wait:iS Test:iiS
Request_free:i Waitany:iIiS Testany:iIiiS Waitall:iIS Testall:iIiS Waitsome:iIiIS Testsome:iIiIS
Iprobe:iihiS Probe:iihS Cancel:i Test_cancelled:Si Send_init:ihiihi Bsend_init:ihiihi
Ssend_init:ihiihi Rsend_init:ihiihi Recv_init:ihiihi Start:i Startall:iI Sendrecv:ihiiihiihS
Sendrecv_replace:ihiiiihS Type_contiguous:ihh Type_vector:iiihh Type_hvector:iiihh
Type_indexed:iIIhh Type_hindexed:iIIhh Type_struct:iIIHh Address:i Type_extent:hi Type_size:hi
Type_lb:hi Type_ub:hi Type_commit:h Type_free:h Get_elements:Shi Pack:ihiiih Unpack:iiiihh
Pack_size:ihhi Barrier:h Bcast:ihih Gather:iihih?ih Gatherv:iiihih?II!h Scatter:iihih?ih
Scatterv:iihihih?II Allgather:ihihh Allgatherv:iihIIhh Alltoall:ihihh Alltoallv:iIIhIIhh
Reduce:ihbih Op_create:ib Op_free:b Allreduce:ihbh Reduce_scatter:iIhbh Scan:ihbh Group_size:hi
Group_rank:hi Group_translate_ranks:hiIhI Group_compare:hhb Comm_group:hh Group_union:hhh
Group_intersection:hhh Group_difference:hhh Group_incl:hiIh Group_excl:hiIh Group_range_incl:hiJh
Group_range_excl:hiJh Group_free:h Comm_size:hi Comm_rank:hi Comm_compare:hhb Comm_dup:hh
Comm_create:hhh Comm_split:hiih Comm_free:h Comm_test_inter:hi Comm_remote_size:hi
Comm_remote_group:hh Intercomm_create:hihiih Intercomm_merge:hih Keyval_create:h Keyval_free:h
Attr_put:hi Attr_get:hii Attr_delete:hi Topo_test:hb Cart_create:hiIIih Dims_create:iiII
Graph_create:ihiIIih Graphdims_get:hii Graph_get:iihiiII Cartdim_get:hi Cart_get:ihiIII
Cart_rank:ihIi Cart_coords:ihiiI Graph_neighbors_count:hii Graph_neighbors:ihiiI Cart_shift:hiiii
Cart_sub:ihIh Cart_map:hiIIi Graph_map:ihiIIi Get_processor_name:si Get_version:ii
Errhandler_create:h Errhandler_set:hh Errhandler_get:hh Errhandler_free:h Error_string:isi
Error_class:ii Wtime: Wtick: Init:A Finalize: Initialized:i Abort:hi Pcontrol:- Close_port:s
Comm_accept:shihh Comm_connect:shihh Comm_disconnect:h Comm_get_parent:h Comm_join:ih Comm_spawn:-
Comm_spawn_multiple:- Lookup_name:shs Open_port:hs Publish_name:shs Unpublish_name:shs
Accumulate:ihiiihbh Get:ihiiihh Put:ihiiihh Win_complete:h Win_create:iihhh Win_fence:bh Win_free:h
Win_get_group:hh Win_lock:bibh Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h
Alltoallw:iIIHIIHh Exscan:ihbh Add_error_class:i Add_error_code:ii Add_error_string:is
Comm_call_errhandler:hi Comm_create_keyval:h Comm_delete_attr:hh Comm_free_keyval:h
Comm_get_attr:hhi Comm_get_name:hsi Comm_set_attr:hh Comm_set_name:hs File_call_errhandler:hi
Grequest_complete:i Grequest_start:i Init_thread:Abb Is_thread_main:i Query_thread:b
Status_set_cancelled:Si Status_set_elements:Shi Type_create_keyval:h Type_delete_attr:hh Type_dup:hh
Type_free_keyval:h Type_get_attr:hhi Type_get_contents:iiihiiiIIH Type_get_envelope:hiiib
Type_get_name:hsi Type_set_attr:hh Type_set_name:hs Type_match_size:bih Win_call_errhandler:hi
Win_create_keyval:h Win_delete_attr:hh Win_free_keyval:h Win_get_attr:hhi Win_get_name:hsi
Win_set_attr:hh Win_set_name:hs Alloc_mem:ih Comm_create_errhandler:h Comm_get_errhandler:hh
Comm_set_errhandler:hh File_create_errhandler:h File_get_errhandler:hh File_set_errhandler:hh
Finalized:i Free_mem: Get_address:i Info_create:h Info_delete:hs Info_dup:hh Info_free:h
Info_get:hsisi Info_get_nkeys:hi Info_get_nthkey:his Info_get_valuelen:hsii Info_set:hss
Pack_external:sihiii Pack_external_size:sihi Request_get_status:iiS Type_create_darray:iiiIBIIbhh
Type_create_hindexed:iIIhh Type_create_hvector:iiihh Type_create_indexed_block:iiIhh
Type_create_resized:hiih Type_create_struct:iIIHh Type_create_subarray:iIIIbhh Type_get_extent:hii
Type_get_true_extent:hii Unpack_external:siiiih Win_create_errhandler:h Win_get_errhandler:hh
Win_set_errhandler:hh File_open:hsbhh File_close:h File_delete:sh File_set_size:hl
File_preallocate:hl File_get_size:hl File_get_group:hh File_get_amode:hb
"""
"""Calls in the order of their numbers, from 0, with their letters; behind them are more of files.

A call with ``-`` has arguments that are not known, which ends the reading.
"""
_PAIRS = [(name, letters) for name, _, letters in (call.partition(":") for call in _CALLS.split())]

NAMES = tuple(name for name, _ in _PAIRS)
LAYOUTS = {name: letters for name, letters in _PAIRS if letters != "-"}

ALL_CALLS = 290
FUNCTION_ENTER, FUNCTION_EXIT, END = ALL_CALLS + 1, ALL_CALLS + 2, ALL_CALLS + 3

ROOT = {"Gather": (0, 3), "Gatherv": (0, 4), "Scatter": (0, 3), "Scatterv": (0, 5)}
"""Where the own rank and the root stand in calls with ``?``."""
